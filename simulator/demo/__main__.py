"""`python -m simulator.demo`, or `make demo`."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import Final

import click

from evencore.terminal import colour_wanted
from simulator.demo.companions import DemoError, Interrupted
from simulator.demo.run import Demo
from simulator.garbage import collect_rarely
from simulator.scenario.reading import load

_STORY: Final = Path(__file__).with_name("story.yaml")
_UNMET: Final = 1
_INTERRUPTED: Final = 130


@click.command()
def main() -> None:
    """Show the loop of rejected pods, and the same cluster with evencore; under a minute.

    Exit code 1: evencore did not keep what it promises.
    """
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    collect_rarely()
    try:
        unmet = Demo(load(str(_STORY)), stop, colour=colour_wanted()).play()
    except Interrupted:
        click.echo("interrupted", err=True)
        sys.exit(_INTERRUPTED)
    except DemoError as error:
        unmet = [str(error)]
    for line in unmet:
        click.echo(f"evencore: {line}", err=True)
    sys.exit(_UNMET if unmet else 0)


if __name__ == "__main__":
    main()
