"""What is told of each request: the level of its one log line, its fields, the metrics."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import pytest
import structlog
from admission import admit
from builders import NOW, failed, node, pod, review, snapshot

from evencore import logs, metrics
from evencore.domain.policy import Policy
from evencore.domain.snapshot import Snapshot
from webhook.mutate import Mutator
from webhook.record import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from builders import Review


class Log:
    """Remembers what it was told, as a structlog logger."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def __getattr__(self, level: str) -> Any:  # noqa: ANN401  as structlog's own
        return lambda event, **fields: self.lines.append((level, event, fields))


def _record(request: Review | bytes, cluster: Snapshot | None = None) -> tuple[str, str, dict]:
    log = Log()
    mutator = Mutator(Policy(), lambda: cluster or Snapshot(), lambda: NOW, Recorder(log))
    mutator(request if isinstance(request, bytes) else request.body)
    (line,) = log.lines
    return line


LEVELS = {
    "a changed pod is worth a line": (review(pod().cpu("3")), "info", "patched"),
    "a pod left alone is not, at the default level": (review(pod().cpu("2")), "debug", "unchanged"),
    "one left alone with a warning is": (
        review(pod().cpu("2").annotate("evencore.io/cpu", "what")),
        "info",
        "unchanged",
    ),
    "a refused pod is": (
        review(pod().cpu("3").annotate("evencore.io/cpu", "deny")),
        "info",
        "denied",
    ),
    "another operation is not": (
        review(pod().cpu("3")).with_(operation="UPDATE"),
        "debug",
        "passed",
    ),
    "a pod of another shape is a warning": (
        review(pod().spec(nodeSelector={"a": 1})),
        "warning",
        "unreadable",
    ),
    "a body that is no review is a warning": (b"hello", "warning", "refused"),
}


@pytest.mark.parametrize(("request_", "level", "event"), LEVELS.values(), ids=LEVELS)
def test_the_level_of_the_line(request_: Review | bytes, level: str, event: str) -> None:
    assert _record(request_)[:2] == (level, event)


def test_the_line_names_pod_owner_and_decision_in_the_words_of_the_annotation() -> None:
    request = review(pod(None).metadata(generateName="web-").cpu("3").owner(kind="ReplicaSet"))
    _, _, fields = _record(request)
    assert fields["pod"] == "web-"
    assert fields["owner"] == "ReplicaSet/app"
    assert fields["namespace"] == "apps"
    answer = admit(request)
    assert fields["decision"] == answer.after["metadata"]["annotations"]["evencore.io/decision"]


def test_a_fault_inside_is_an_error_with_its_traceback_and_the_pod_passes() -> None:
    log = Log()

    def broken() -> Snapshot:
        raise RuntimeError("boom")

    status, body = Mutator(Policy(), broken, lambda: NOW, Recorder(log))(review(pod()).body)
    assert (status, json.loads(body)["response"]["allowed"]) == (200, True)
    ((level, event, fields),) = log.lines
    assert (level, event) == ("error", "failed")
    assert isinstance(fields["exc_info"], RuntimeError)


def _value(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


def test_counts_rise_with_what_was_done() -> None:
    names = (
        "evencore_containers_aligned_total",
        "evencore_cpus_added_total",
        "evencore_pods_steered_total",
    )
    before = [_value(name) for name in names]
    patched = _value("evencore_admission_requests_total", result="patched")
    cluster = snapshot(node("n1"), node("n2"), failed("n1"))
    _record(review(pod().cpu("2500m").owner()), cluster)
    assert [_value(n) - b for n, b in zip(names, before, strict=True)] == [1, 1.5, 1]
    assert _value("evencore_admission_requests_total", result="patched") - patched == 1


@pytest.fixture
def own_logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo the set-up of logs, which holds for the whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    monkeypatch.setattr(logs, "_made", None)
    yield
    structlog.reset_defaults()
    logging.captureWarnings(capture=False)
    root.handlers = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("own_logs")
def test_a_line_end_in_a_value_cannot_forge_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("info", "json")
    logs.logger().info("patched", pod='x"\n{"event":"forged"}')
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["pod"] == 'x"\n{"event":"forged"}'


@pytest.mark.usefixtures("own_logs")
@pytest.mark.parametrize("shape", ["json", "console"])
def test_a_log_that_cannot_be_written_stops_nothing(
    shape: Literal["json", "console"], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(os.dup(writer), "wb", buffering=0) as raw:
        monkeypatch.setattr("sys.stderr", io.TextIOWrapper(raw, write_through=True))
        logs.set_up("info", shape)
        logs.logger().info("patched")
    os.close(writer)


@pytest.mark.usefixtures("own_logs")
def test_without_stderr_nothing_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    logs.set_up("info")
    logs.logger().info("patched")
    sys.stderr.close()


@pytest.mark.usefixtures("own_logs")
def test_what_libraries_log_has_the_same_shape(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("info", "json")
    library = logging.getLogger("library")
    library.debug("nobody hears of it")
    library.warning("%s is closed", "a connection", extra={"peer": "10.0.0.1"})
    library.error("it failed", exc_info=ValueError("of no use"), stack_info=True)

    closed, failed_ = map(json.loads, capsys.readouterr().err.splitlines())
    assert datetime.fromisoformat(closed.pop("timestamp"))
    assert closed == {"level": "warning", "event": "a connection is closed", "peer": "10.0.0.1"}
    assert failed_["exception"].endswith("ValueError: of no use")
    assert "test_what_libraries_log" in failed_["stack_info"]


@pytest.mark.usefixtures("own_logs")
def test_who_logs_before_logs_are_set_up_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    logs.logger().bind(pod="web").info("patched")

    assert json.loads(capsys.readouterr().err)["pod"] == "web"


@pytest.mark.usefixtures("own_logs")
def test_less_than_the_level_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("warning", "json")
    logs.logger().info("patched")
    logs.logger().error("failed", exc_info=ValueError("of no use"))

    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["exception"] == "ValueError: of no use"
