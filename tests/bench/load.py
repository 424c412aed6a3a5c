"""The load process: takes jobs on standard input, answers with results, a line of JSON each.

A process of its own so that it can be pinned away from the server. It ends with its input.
"""

import asyncio
import dataclasses
import functools
import gc
import itertools
import json
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import uvloop

from .burst import bursts
from .certificate import client_context
from .connection import Request, render
from .jobs import BURST, CLOSED, OPEN, Job, Result
from .loops import closed_loop, open_loop
from .reviews import bodies

_SHAPES = {CLOSED: closed_loop, OPEN: open_loop, BURST: bursts}


def main() -> None:
    """Do jobs until the input ends."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin:
            job = Job(**json.loads(line))
            requests = _requests(job.size)
            gc.collect()
            gc.freeze()  # the bodies are many and live on: no need to look at them again
            gc.disable()
            try:
                answer = dataclasses.asdict(runner.run(_measure(job, requests)))
            except OSError as error:
                answer = {"trouble": str(error) or type(error).__name__}
            gc.enable()
            print(json.dumps(answer), flush=True)  # noqa: T201 - the other end of a pipe reads it


async def _measure(job: Job, requests: Iterator[Request]) -> Result:
    return await _SHAPES[job.shape](job, requests, _context(job.certificate))


@functools.cache
def _requests(size: int) -> Iterator[Request]:
    """Return the rendered requests of a size, over and over, going on where the last job ended."""
    return itertools.cycle([render(uid, body) for uid, body in bodies(size)])


@functools.cache
def _context(certificate: str) -> ssl.SSLContext:
    return client_context(Path(certificate))


if __name__ == "__main__":
    main()
