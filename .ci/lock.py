"""Write the lock files of the image: every package that goes into it, and its hashes. `make lock`.

For the Python of the Dockerfile on both of its architectures, wheels only: what is built from
source runs code of its own. pip resolves and tells the hashes; nothing is installed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
ARCHITECTURES: Final = ("x86_64", "aarch64")
GLIBC: Final = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
HEAD: Final = "# {}: made by `make lock`, from pyproject.toml.\n"

Pinned = dict[str, tuple[str, set[str]]]


def python_of(dockerfile: str) -> str:
    """Return the version of Python that the image has: "3.13"."""
    match = re.search(r"^ARG RUNTIME_IMAGE=.*python:([0-9]+\.[0-9]+)", dockerfile, re.MULTILINE)
    if match is None:
        raise ValueError("the Dockerfile does not say its Python")
    return match[1]


def resolved(wanted: list[str], python: str) -> Pinned:
    """Ask pip which packages that comes to, and for the hashes of their wheels."""
    found: Pinned = {}
    for architecture in ARCHITECTURES:
        with TemporaryDirectory() as directory:
            report = Path(directory, "report.json")
            platforms = [f"--platform={glibc}_{architecture}" for glibc in GLIBC]
            command = [
                sys.executable, "-m", "pip", "install", "--quiet", "--dry-run",
                "--ignore-installed", f"--target={directory}", "--only-binary=:all:",
                f"--python-version={python}", "--implementation=cp", *platforms,
                f"--report={report}", *wanted,
            ]  # fmt: skip
            subprocess.run(command, check=True, env=os.environ)  # noqa: S603  our own command
            told: Any = json.loads(report.read_text())
        for one in told["install"]:
            name = re.sub(r"[-_.]+", "-", one["metadata"]["name"]).lower()
            version, hashes = found.setdefault(name, (one["metadata"]["version"], set()))
            if version != one["metadata"]["version"]:
                raise ValueError(f"{name} has another version on {architecture}")
            hashes.add(one["download_info"]["archive_info"]["hashes"]["sha256"])
    return found


def written(title: str, found: Pinned) -> str:
    """Return the text of a lock file."""
    lines = [HEAD.format(title)]
    for name, (version, hashes) in sorted(found.items()):
        parts = [f"{name}=={version}", *(f"--hash=sha256:{one}" for one in sorted(hashes))]
        lines.append(" \\\n    ".join(parts) + "\n")
    return "".join(lines)


def main() -> None:
    """Write both files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    python = python_of((ROOT / "Dockerfile").read_text())
    for file, title, wanted in (
        ("requirements.lock", "What is in the image", project["project"]["dependencies"]),
        ("requirements-build.lock", "What builds our wheel", project["build-system"]["requires"]),
    ):
        (ROOT / file).write_text(written(title, resolved(wanted, python)))


if __name__ == "__main__":
    main()
