"""Start the world once for all end-to-end tests: on a pocket cluster, or on the one that is given.

pytest tests/e2e [--long] [--kubeconfig FILE --nodes FILE]
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from e2e.api import until
from e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("end to end")
    group.addoption("--kubeconfig", type=Path, help="run against this cluster, not a pocket one")
    group.addoption("--nodes", type=Path, help="its nodes, as tests/e2e/nodes.yaml names them")
    group.addoption("--long", action="store_true", help="the long variants as well")


@pytest.fixture(scope="session")
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    # Not known as options where all tests are run: pytest reads this file too late for that.
    kubeconfig = request.config.getoption("--kubeconfig", None)
    nodes = request.config.getoption("--nodes", None)
    with World(tmp_path_factory.mktemp("world"), kubeconfig, nodes) as world:
        yield world


@pytest.fixture(autouse=True)
def _healthy(world: World) -> None:
    """Have everything of ours running when a test begins, whatever the one before did."""
    world.mend()
    until(lambda: world.leads("a"), world.controllers["a"].log)


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--long", default=False))
