"""Play stories: the first seed, how many, and minutes of the cluster's time for each."""

from __future__ import annotations

import logging
import sys

from soak.story import play


def main(first: int, stories: int, minutes: int) -> int:
    """Return how many stories broke a promise, at most 1."""
    broken = 0
    for seed in range(first, first + stories):
        try:
            play(seed, minutes)
        except AssertionError as error:
            broken += 1
            print(error)  # noqa: T201
        else:
            print(f"seed {seed}: all promises held")  # noqa: T201
    return min(broken, 1)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(main(*map(int, sys.argv[1:])))
