"""Play stories, and say what came of them; exit code 1 if a promise was broken (docs/soak.md)."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from itertools import count

from soak.play import play
from soak.promises import Broken
from soak.report import Report


def main(arguments: list[str]) -> int:
    """Play until there were enough stories, or it took long enough, or one broke a promise."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first story (1)")
    parser.add_argument("--stories", type=int, help="how many (10)")
    parser.add_argument("--minutes", type=float, default=60, help="of the cluster, for each (60)")
    parser.add_argument("--time", type=float, help="no new story after so many real minutes")
    wanted = parser.parse_args(arguments)
    stories = wanted.stories or (None if wanted.time else 10)
    end = time.monotonic() + wanted.time * 60 if wanted.time else None
    report = Report()
    for seed in count(wanted.seed):
        enough = stories is not None and report.stories >= stories
        if enough or (end is not None and time.monotonic() >= end):
            break
        try:
            report.add(play(seed, wanted.minutes, report.tell))
        except Broken as broken:
            again = f"make soak SEED={seed} STORIES=1 MINUTES={wanted.minutes:g}"
            print(f"{report.text()}\n\n{broken}\n\n{again}")  # noqa: T201
            return 1
    print(report.text())  # noqa: T201
    return 0


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.exit(main(sys.argv[1:]))
