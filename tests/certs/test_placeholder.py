"""The process that makes a placeholder: where it works, and what is told when it does not."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import certs
from certs import placeholder
from certs.facts import PLACEHOLDER
from certs.pem import Pair
from certs.reading import read_certificate
from certs.usable import judge

if TYPE_CHECKING:
    from pathlib import Path

IMPOSTOR = "raise SystemExit('not ours')\n"


def test_it_makes_a_pair_that_can_be_served(tmp_path: Path) -> None:
    made = placeholder.make()
    assert isinstance(made, Pair)
    found = judge(made, tmp_path)
    assert not isinstance(found, str)
    assert found.placeholder


PLACES = {
    "modules of the same name": {},
    "a safe path": {"PYTHONSAFEPATH": "1"},
    "modules of the same name on the path of others": {"PYTHONPATH": "."},
    "no home": {"HOME": "/nonexistent"},
}


@pytest.mark.parametrize("environment", PLACES.values(), ids=PLACES)
def test_it_is_our_code_that_runs_wherever_we_are(
    environment: dict[str, str], tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("cryptography.py", "signal.py", "datetime.py"):
        (here / name).write_text(IMPOSTOR)
    program = (
        "import os, sys; sys.path[:] = [p for p in sys.path if p not in ('', '.', os.getcwd())]\n"
        f"os.chdir({str(here)!r})\n"
        "from certs import placeholder; print(placeholder.make())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("Pair(certificate=b'-----BEGIN CERTIFICATE-----")


def test_it_is_the_code_that_asks_where_that_is_not_installed(tmp_path: Path) -> None:
    [folder] = certs.__path__
    tree = shutil.copytree(folder, tmp_path / "certs")
    facts = (tree / "facts.py").read_text()
    (tree / "facts.py").write_text(facts.replace(PLACEHOLDER, "of this tree"))
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from certs import placeholder; print(placeholder.make().certificate.decode())"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert read_certificate(done.stdout).name == "of this tree"


def run(shell: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", shell)


FAILURES = {
    "not there": (("/nonexistent/python",), "cannot be started: No such file or directory"),
    "not executable": (("/dev/null",), "cannot be started: Permission denied"),
    "killed": (run("kill -9 $$"), "was ended by SIGKILL"),
    "hanging": (run("exec sleep 1000"), "gave no answer within 0.2 s"),
    "failing": (run("echo a; echo b >&2; echo 'no room' >&2; exit 3"), "ended with 3: no room"),
    "failing without a word": (run("exit 1"), "ended with 1: "),
    "silent": (run("exit 0"), "answered with something that is no certificate and its key"),
    "rubbish": (run("echo rubbish"), "answered with something that is no certificate and its key"),
    "a key alone": (
        run("echo '-----BEGIN PRIVATE KEY-----'"),
        "answered with something that is no certificate and its key",
    ),
}


@pytest.mark.parametrize(("command", "why"), FAILURES.values(), ids=FAILURES)
def test_what_it_fails_with_becomes_a_sentence(command: tuple[str, ...], why: str) -> None:
    patience_s = 0.2 if "sleep" in command[-1] else 60.0
    assert placeholder.make(command, patience_s) == (
        f"the process that makes a placeholder {why}; look at this container's limits of memory "
        "and processes, and whether evencore is installed as a whole"
    )


def test_nobody_is_left_behind() -> None:
    program = (
        "import os; from certs import placeholder\n"
        "print(placeholder.make(), placeholder.make(('/bin/sleep', '1000'), 0.2))\n"
        "os.waitpid(-1, os.WNOHANG)"  # raises if there is no child, dead or alive
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert "gave no answer" in done.stdout
    assert "ChildProcessError" in done.stderr


def test_it_has_nothing_of_ours_but_pipes() -> None:
    tell = "import os, sys; sys.exit(' '.join(os.listdir('/dev/fd')))"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        os.set_inheritable(listening.fileno(), True)
        said = placeholder.make((sys.executable, "-c", tell))
    assert isinstance(said, str)
    assert "ended with 1: 0 1 2 3; " in said  # the last is that of the listing
