"""Readiness."""

from webhook.probes import SHUTTING_DOWN, Readiness


def broken() -> str | None:
    raise KeyError("lister")


def test_without_checks_it_is_ready() -> None:
    assert Readiness().reasons() == []


def test_each_failing_check_gives_its_name_and_reason() -> None:
    readiness = Readiness(
        {"nodes": lambda: "not listed yet", "pods": lambda: None, "certificate": lambda: "expired"}
    )
    assert readiness.reasons() == ["nodes: not listed yet", "certificate: expired"]


def test_checks_are_asked_each_time() -> None:
    answers: list[str | None] = ["not yet", None]
    readiness = Readiness({"nodes": lambda: answers.pop(0)})
    assert readiness.reasons() == ["nodes: not yet"]
    assert readiness.reasons() == []


def test_a_broken_check_is_a_reason() -> None:
    (reason,) = Readiness({"nodes": broken}).reasons()
    assert reason == "nodes: the check itself failed: KeyError: 'lister'"


def test_draining_is_never_ready_again() -> None:
    readiness = Readiness()
    readiness.drain()
    readiness.drain()
    assert readiness.draining
    assert readiness.reasons() == [SHUTTING_DOWN]
