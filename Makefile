# One place for every command; `make help` lists them.
# Every target sets up its own virtual environment (.venv), so a new machine needs only
# Python 3.11, make and git.

PYTHON ?= $(firstword $(foreach v,python3.11 python3.12 python3.13 python3.14 python3,$(shell command -v $(v))))
BIN := .venv/bin
.DEFAULT_GOAL := help

.PHONY: help install demo test check fix bench bench-scale soak fuzz lock audit clean

help: ## List these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

install: .venv/installed ## Make .venv with everything the project needs

# The stamp is newer than pyproject.toml exactly if what it asks for is installed.
.venv/installed: pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "make: Python 3.11 or newer is needed (found: $(or $(PYTHON),none)); say which: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; }
	"$(PYTHON)" -m venv .venv
	@echo "Installing what the project needs into .venv: about a minute, once"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

# What the image has: the product's own dependencies and no more. Its code is that of this tree.
.venv-lean/installed: pyproject.toml
	"$(PYTHON)" -m venv .venv-lean
	.venv-lean/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

demo: install ## Two clusters side by side: the loop of rejected pods, and how evencore ends it
	@$(BIN)/python -m simulator.demo

# Many tests wait for real processes, so three at a time on two cores are quicker than two. In the
# order of the folders: the longest come early, and nobody waits for one of them at the end.
# Those that count rejected pods or make load have the machine to themselves.
ALONE := tests/e2e tests/deployment/test_rollout.py tests/cli/test_demo.py

test: install ## Run all tests
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(ALONE:%=--ignore %)
	$(BIN)/python -m pytest $(ALONE)

check: install ## What CI checks: style, types, import rules
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

fix: install ## Mend what can be mended by machine
	$(BIN)/python -m ruff format .
	$(BIN)/python -m ruff check --fix .

bench: .venv/bench ## Measure the webhook beside two yardsticks in the same run, and the pocket cluster
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.decisions
	$(BIN)/python -m tests.bench.newsflash
	PYTHONPATH=tests/support $(BIN)/python -m tests.bench.kubelet_figures
	PYTHONPATH=tests/support $(BIN)/python -m tests.bench.simulator_figures
	$(BIN)/python -m tests.bench.simulator_pods

bench-scale: install .venv-lean/installed ## Measure controller and webhook with 5,000 nodes and 100,000 pods; under 6 minutes
	$(BIN)/python -m tests.bench.scale

soak: install ## Play random stories of a cluster; SEED=n STORIES=n MINUTES=n (of its time), TIME=n (real minutes)
	@PYTHONPATH=tests $(BIN)/python -m soak $(if $(SEED),--seed $(SEED)) $(if $(STORIES),--stories $(STORIES)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(TIME),--time $(TIME))

fuzz: .venv/fuzz ## Look for inputs that break a promise, guided by coverage; TARGET=t SECONDS=n FILE=crash
	PYTHONPATH=tests:tests/support $(BIN)/python -m fuzz --seconds $(or $(SECONDS),30) $(TARGET) $(FILE)

lock: install ## Write the lock files of the image anew: newest versions that pyproject.toml allows, and hashes
	$(BIN)/python .ci/lock.py

audit: .venv/audit ## Ask PyPI's advisories about what goes into the image: 1 a hole, 3 nobody to ask
	$(BIN)/python .ci/audit.py

.venv/audit: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group audit
	@touch $@

.venv/fuzz: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group fuzz
	@touch $@

.venv/bench: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	@touch $@

clean: ## Remove everything that was made here
	rm -rf .venv .venv-lean .fuzz .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
