"""Which measurement follows which: servers in turn, so that each pair saw the same machine."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .cores import pinned_to
from .errors import BenchError
from .jobs import Job, Result
from .plan import Point
from .progress import Progress
from .reviews import SIZES
from .servers import ROOT, Place, Server

Figures = dict[tuple[Point, str], list[Result]]
"""(point, server's name) -> a result per round, in the order of the rounds."""


class Load:
    """The load process, see load.py."""

    def __init__(self, process: subprocess.Popen[bytes], place: Place) -> None:
        self._process, self._place = process, place

    def measure(self, server: Server, point: Point) -> Result:
        """Load one server; raises BenchError if not one right answer came."""
        answer = self._ask(self._job(server, point))
        told = f"{server.name} at {point.size} KB, {point.load}"
        if "trouble" in answer:
            raise BenchError(f"{told}: {answer['trouble']}")
        result = Result(**answer)
        if not result.admissions:
            raise BenchError(f"{told}: no right answer. {result.errors}")
        server.trim_log()
        return result

    def _job(self, server: Server, point: Point) -> Job:
        """Return what the load process is told: the point without what only people need."""
        wishes = dataclasses.asdict(point)
        del wishes["load"], wishes["rounds"]
        wishes["size"] = SIZES[point.size]
        certificate = str(self._place.certificate.certificate)
        return Job(port=server.port, pids=server.pids, certificate=certificate, **wishes)

    def _ask(self, job: Job) -> dict[str, Any]:
        """Hand a job over and wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(job.line())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer will be missing, too
        answer = self._process.stdout.readline()
        if not answer:
            raise BenchError("The load process ended; what it said stands above.")
        found: dict[str, Any] = json.loads(answer)
        return found


@contextmanager
def load_process(place: Place) -> Iterator[Load]:
    """Start the load process on its core, and end it."""
    with pinned_to(place.cores.load, place.cores):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.load"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the parent alone
        )
    with process:  # closes the pipes
        try:
            yield Load(process, place)
        finally:
            process.kill()  # it keeps nothing that would be lost


def measure(points: list[Point], servers: list[Server], load: Load) -> Figures:
    """Measure everything, round by round: each round is a whole run of its own, only shorter.

    The order of the servers differs from round to round: no one always follows the same one.
    """
    visits = [
        (point, server)
        for number in range(max(point.rounds for point in points))
        for point in points
        if number < point.rounds
        for server in _turned(servers, number)
        if point.concerns(server.name)
    ]
    progress = Progress(len(visits))
    figures: Figures = {}
    for point, server in visits:
        progress.step(f"{point.size} KB, {point.load}: {server.name}")
        figures.setdefault((point, server.name), []).append(load.measure(server, point))
    return figures


def _turned(servers: list[Server], number: int) -> list[Server]:
    """Return the servers, beginning with another one each round."""
    first = number % len(servers)
    return servers[first:] + servers[:first]
