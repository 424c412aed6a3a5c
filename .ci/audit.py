"""Ask for known vulnerabilities of what goes into the image: `make audit`, beside no other check.

It needs a service on the network (PyPI's advisories), so it is no part of `make check`.
Exit status (of this script; make itself has but one for all failures):
0 nothing is known against any dependency; 1 something is; 3 not all could be asked about.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.requirements import Requirement

VULNERABLE = 1
NOT_ASKED = 3
PATIENCE_S = 300


def closure(project: str) -> dict[str, str]:
    """Return the dependencies of a project that is installed here, all the way down, and versions.

    Extras and groups of the project are not in the image.
    """
    found: dict[str, str] = {}
    wanted: list[tuple[str, frozenset[str]]] = [(project, frozenset())]
    seen = set(wanted)
    while wanted:
        name, extras = wanted.pop()
        for text in requires(name) or ():
            one = Requirement(text)
            marked = one.marker is None or any(
                one.marker.evaluate({"extra": extra}) for extra in (extras or {""})
            )
            key = (re.sub(r"[-_.]+", "-", one.name).lower(), frozenset(one.extras))
            if not marked or key in seen:
                continue
            seen.add(key)
            try:
                found[key[0]] = version(one.name)
            except PackageNotFoundError:
                continue  # of another platform
            wanted.append(key)
    return dict(sorted(found.items()))


def verdict(asked: dict[str, str], answer: str) -> tuple[int, list[str]]:
    """Read what pip-audit has printed: the exit status, and a line for each thing to say."""
    try:
        told: Any = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return NOT_ASKED, ["the vulnerability service could not be asked at all"]
    known = {one["name"]: one for one in told}
    lines = [
        f"{name} {one['version']}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or '?'}"
        for name, one in known.items()
        for hole in one.get("vulns", ())
    ]
    skipped = sorted(name for name in asked if name not in known or "skip_reason" in known[name])
    if skipped:
        lines.append(f"could not be asked about: {', '.join(skipped)}")
    if any("mended in" in line for line in lines):
        return VULNERABLE, lines
    return (NOT_ASKED, lines) if skipped else (0, [f"nothing known against {len(asked)} packages"])


def main() -> int:
    """Run it."""
    asked = closure("evencore")
    with TemporaryDirectory() as directory:
        file = Path(directory, "requirements.txt")
        file.write_text("".join(f"{name}=={number}\n" for name, number in asked.items()))
        command = [
            sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "-r", str(file),
            "--format", "json", "--progress-spinner", "off",
        ]  # fmt: skip
        try:
            done = subprocess.run(  # noqa: S603  our own command
                command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
            )
            answer, said = done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            answer, said = "", f"no answer within {PATIENCE_S} s"
    status, lines = verdict(asked, answer)
    for line in lines:
        print(line)  # noqa: T201  a command
    if status == NOT_ASKED and said.strip():
        print(said.strip().splitlines()[-1], file=sys.stderr)  # noqa: T201  a command
    return status


if __name__ == "__main__":
    sys.exit(main())
