"""`python -m simulator`: an API server for people and measurements, until it is interrupted.

Only the API: nothing schedules or runs pods here.
"""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import click

from simulator.clock import Clock
from simulator.garbage import collect_rarely
from simulator.server import ApiServer, Options


@click.command()
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Write a kubeconfig there.")
@click.option("--port", default=0, help="Listen there; 0 takes any that is free.")
@click.option("--speed", default=1.0, help="How many times as fast as real time.")
@click.option("--seed", default=1, help="The same seed gives the same names and uids.")
@click.option("--plain", is_flag=True, help="HTTP instead of HTTPS.")
def main(kubeconfig: Path | None, port: int, speed: float, seed: int, *, plain: bool) -> None:
    """Run an API server on this machine's loopback."""
    collect_rarely()
    started, stop = time.perf_counter(), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    options = Options(clock=Clock.real(speed), seed=seed, secure=not plain, port=port)
    with ApiServer(options) as server:
        if kubeconfig is not None:
            kubeconfig.write_text(server.kubeconfig())
        took = time.perf_counter() - started
        click.echo(f"{server.url} started in {took:.3f} s")
        if kubeconfig is not None:
            click.echo(f"try: kubectl --kubeconfig {kubeconfig} get namespaces")
        stop.wait()


if __name__ == "__main__":
    main()
