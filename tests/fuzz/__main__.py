"""Fuzz one target or all, guided by what of our code is reached; or run files through a target.

python -m fuzz                           every target, 30 s each
python -m fuzz --seconds 600 mutate      one target, for longer
python -m fuzz mutate FILE ...           replay files, such as a crash that was found
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

from fuzz.corpus import seeds
from fuzz.targets import TARGETS

FOUND: Final = Path(".fuzz")
"""Inputs that reached something new, kept for the next run; and crashes."""

LONGEST: Final = 16_384
"""Bytes of an input: captured reviews have 5,000."""
LONGEST_S: Final = 10
"""One input that takes longer, or more memory than the next, is a crash as well."""
MOST_MIB: Final = 1024


def main() -> int:
    """Run it; 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--seconds", type=int, default=30, help="for each target")
    parser.add_argument("target", nargs="?", choices=list(TARGETS), metavar="TARGET")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    asked = parser.parse_args()
    if asked.files:
        for file in asked.files:
            TARGETS[asked.target](file.read_bytes())
            print(f"{file}: what is promised of {asked.target} holds")  # noqa: T201  a command
        return 0
    targets = [asked.target] if asked.target else list(TARGETS)
    return max(_fuzz(target, asked.seconds) for target in targets)


def _fuzz(target: str, seconds: int) -> int:
    """Fuzz one target in a process of its own, which ends with its first crash."""
    corpus, crashes = FOUND / target, FOUND / f"{target}-crashes"
    for directory in (corpus, crashes):
        directory.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (corpus / f"seed-{number}").write_bytes(seed)
    before = set(crashes.iterdir())
    print(f"{target}: {seconds} s", flush=True)  # noqa: T201  a command
    done = subprocess.run(
        [
            sys.executable, "-m", "fuzz.guided", target, str(corpus),
            f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={LONGEST_S}",
            f"-rss_limit_mb={MOST_MIB}", f"-artifact_prefix={crashes}/", "-print_final_stats=1",
            "-verbosity=0",
        ],
        check=False,
    )  # fmt: skip
    found = sorted(set(crashes.iterdir()) - before)
    for file in found:
        print(f"found {file}; again: make fuzz TARGET={target} FILE={file}")  # noqa: T201  a command
    return 1 if found or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
