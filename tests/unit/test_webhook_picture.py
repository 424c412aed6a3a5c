"""The webhook's picture of the cluster, before, while and after it is begun."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from evencore.domain.snapshot import Snapshot
from evencore.webhook_picture import Picture

if TYPE_CHECKING:
    import pytest

PATIENCE_S = 10.0


class Followed:
    """A cluster of which nothing has come yet."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.snapshot = Snapshot()

    def __call__(self) -> Snapshot:
        return self.snapshot

    def start(self) -> None:
        self.said.append("start")

    def missing(self) -> str | None:
        return "nodes"

    def stop(self) -> None:
        self.said.append("stop")


class Slow:
    """Gives that cluster when it is let."""

    def __init__(self) -> None:
        self.followed = Followed()
        self.let = threading.Event()

    def __call__(self) -> Followed:
        assert self.let.wait(PATIENCE_S)
        return self.followed


def wait_until_begun() -> None:
    """Wait for the thread that begins."""
    for thread in threading.enumerate():
        if thread.name == "picture":
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


def test_nothing_is_known_until_it_is_made_and_then_what_it_knows() -> None:
    slow = Slow()
    picture = Picture(slow)
    picture.start()

    assert not picture().nodes.facts
    assert picture.missing() == "waiting for the first list of anything"
    slow.let.set()
    wait_until_begun()

    assert picture() is slow.followed.snapshot
    assert picture.missing() == "nodes"
    picture.stop()
    assert slow.followed.said == ["start", "stop"]


def test_who_is_stopped_before_it_is_made_begins_nothing() -> None:
    slow = Slow()
    picture = Picture(slow)
    picture.start()
    picture.stop()
    slow.let.set()
    wait_until_begun()

    assert slow.followed.said == []


def test_who_cannot_be_made_is_never_ready_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    def missing() -> Followed:
        raise ImportError("No module named 'urllib3'")

    picture = Picture(missing)
    picture.start()
    wait_until_begun()

    assert picture.missing() == "reading the cluster failed: ImportError"
    assert "No module named 'urllib3'" in caplog.text
    picture.stop()
