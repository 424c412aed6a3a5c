"""What the Dockerfile does, without Docker: our wheel in a clean prefix, both processes from it.

The dependencies are those of the environment that runs the tests. The working directory takes no
file, not even root's, and the home directory does not exist.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import servers
from deployment.installed import until
from deployment.manifests import ROOT
from e2e.processes import free_port

from simulator.server import ApiServer

if TYPE_CHECKING:
    from collections.abc import Iterator

UNWRITABLE: Final = Path("/proc")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as pip would."""
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = directory.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def prefix(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install it into an environment of its own; return where its commands are."""
    home = tmp_path_factory.mktemp("prefix") / "evencore"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(home), "--disable-pip-version-check"]
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *install], check=True)
    [packages] = home.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin"


@contextmanager
def running(prefix: Path, log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command as a container would."""
    environment = {
        "PATH": str(prefix),
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with (
        log.open("wb") as out,
        subprocess.Popen(
            ["evencore", *arguments],  # noqa: S607  found in the PATH of its environment
            executable=prefix / "evencore",
            cwd=UNWRITABLE,
            env=environment,
            stdout=out,
            stderr=out,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        top = {name.partition("/")[0] for name in content.namelist()}
    packages = {name for name in top if not name.endswith(".dist-info")}
    assert packages == {"certs", "controller", "evencore", "simulator", "webhook"}


def test_the_working_directory_takes_no_file() -> None:
    with pytest.raises(OSError, match="proc"):
        (UNWRITABLE / "evencore-was-here").write_text("")


def test_it_is_the_installed_package_that_runs(prefix: Path) -> None:
    command = [prefix / "python", "-I", "-c", "import evencore, webhook; print(evencore.__file__)"]
    done = subprocess.run(command, cwd=UNWRITABLE, check=True, capture_output=True, text=True)
    assert Path(done.stdout).is_relative_to(prefix.parent)


def test_the_webhook_serves_from_it_and_writes_nothing_there(prefix: Path, tmp_path: Path) -> None:
    before = sorted(prefix.parent.rglob("*"))
    volume, authority = servers.SecretVolume(tmp_path / "tls"), servers.Authority()
    volume.write(authority.issue())
    flags = ["--tls-cert", str(volume.certificate), "--tls-key", str(volume.key)]
    flags += ["--snapshot", str(ROOT / "tests" / "demo-nodes.yaml"), "--bind", "127.0.0.1:0"]
    flags += ["--drain-seconds", "0", "--closing-seconds", "0"]
    log = tmp_path / "log"
    with running(prefix, log, "webhook", *flags) as process:
        servers.Running(process, authority, volume, log).wait_ready()
    assert process.returncode == 0
    assert sorted(prefix.parent.rglob("*")) == before


def test_the_webhook_has_its_placeholder_made_from_it(prefix: Path, tmp_path: Path) -> None:
    before = sorted(prefix.parent.rglob("*"))
    kubeconfig, port, log = tmp_path / "kubeconfig", free_port(), tmp_path / "log"
    with ApiServer() as server:
        kubeconfig.write_text(server.kubeconfig())
        flags = ["--kubeconfig", str(kubeconfig), "--bind", f"127.0.0.1:{port}"]
        flags += ["--cert-secret", "nowhere", "--cert-directory", str(tmp_path / "tls")]
        flags += ["--drain-seconds", "0", "--closing-seconds", "0"]
        with running(prefix, log, "webhook", *flags) as process:
            until(lambda: _alive(port), log.read_text)
    assert process.returncode == 0
    assert sorted(prefix.parent.rglob("*")) == before


def test_the_controller_works_from_it_and_writes_nothing_there(
    prefix: Path, tmp_path: Path
) -> None:
    before = sorted(prefix.parent.rglob("*"))
    kubeconfig, port, log = tmp_path / "kubeconfig", free_port(), tmp_path / "log"
    with ApiServer() as server:
        kubeconfig.write_text(server.kubeconfig())
        flags = ["--kubeconfig", str(kubeconfig), "--bind", f"127.0.0.1:{port}"]
        flags += ["--namespace", "default"]
        with running(prefix, log, "controller", *flags) as process:
            until(lambda: _leads(port), log.read_text)
    assert process.returncode == 0
    assert sorted(prefix.parent.rglob("*")) == before


def _alive(port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # as a probe
    try:
        with urllib.request.urlopen(
            f"https://127.0.0.1:{port}/healthz", timeout=5, context=context
        ) as page:
            return bool(page.status == HTTPStatus.OK)
    except OSError:
        return False


def _leads(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
            return b"evencore_leading 1.0" in page.read()
    except OSError:
        return False
