"""Compiles the Go yardstick, offline, with the toolchain from the bench dependency group."""

import os
import subprocess
from pathlib import Path

from .errors import BenchError
from .servers import BIN

SOURCE = Path(__file__).parent / "go"


def go_environment() -> dict[str, str]:
    """Return an environment in which Go neither downloads anything nor asks git.

    A GOEXPERIMENT of the caller is kept: `GOEXPERIMENT=nojsonv2` compares with the
    encoding/json of Go 1.26 and before.
    """
    fixed = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    return {**os.environ, **fixed}


def build(directory: Path) -> Path:
    """Compile the yardstick into `directory` and return the program.

    Half a minute for the first time on a machine, about a second afterwards.
    """
    program = directory / "go-yardstick"
    _go("build", "-buildvcs=false", "-trimpath", "-o", str(program), ".")
    return program


def version() -> str:
    """Return what the toolchain calls itself, e.g. `go1.26.1`, with the caller's experiments."""
    experiment = os.environ.get("GOEXPERIMENT")
    found = _go("version").split()[2]
    return f"{found} (GOEXPERIMENT={experiment})" if experiment else found


def _go(*arguments: str) -> str:
    """Run the go command; raises BenchError with its own words."""
    go = BIN / "go"
    if not go.exists():
        raise BenchError("The Go toolchain is not installed here: run `make .venv/bench` first.")
    ran = subprocess.run(
        [str(go), *arguments],
        cwd=SOURCE,
        env=go_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise BenchError(f"go {arguments[0]} failed in tests/bench/go:\n{ran.stderr.strip()}")
    return ran.stdout
