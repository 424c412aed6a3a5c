"""One target under atheris: its process, for `python -m fuzz`."""

from __future__ import annotations

import logging
import sys

import atheris

# What is imported in here is watched: inputs that reach something new are kept and changed further.
with atheris.instrument_imports(include=["evencore", "webhook"]):
    from fuzz.targets import TARGETS


def main() -> None:
    """Fuzz the target that is named first; the rest is for libFuzzer."""
    name, *rest = sys.argv[1:]
    logging.disable()  # odd objects are told of; here there are millions
    atheris.Setup([sys.argv[0], *rest], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
