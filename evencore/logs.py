"""The set-up of logs: structlog, for people on a terminal, JSON lines elsewhere, on stderr.

What libraries log through `logging` comes out in the same shape. Nothing is set up on import.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, Literal, TextIO, cast

import msgspec
import structlog

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor

_encode_json = msgspec.json.Encoder(enc_hook=str).encode

_NAMED: list[Processor] = [
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def set_up(
    level: Literal["debug", "info", "warning", "error"],
    shape: Literal["auto", "console", "json"] = "auto",
) -> None:
    """Set up logs for this process. Call it once, before anything logs; forks inherit it."""
    if sys.stderr is None:  # it was closed when the process started
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115  open as long as the process lives
    number = logging.getLevelNamesMapping()[level.upper()]
    console = shape == "console" or (shape == "auto" and sys.stderr.isatty())
    for_people: list[Processor] = [
        *_NAMED,
        _harmless,
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
    ]
    structlog.configure(
        processors=for_people,
        wrapper_class=(
            structlog.make_filtering_bound_logger(number) if console else _json_logger(number)
        ),
        # Straight to the stream: the line of every admission does not go through `logging`.
        logger_factory=(
            structlog.WriteLoggerFactory(cast("TextIO", _Unfailing(sys.stderr)))
            if console
            else lambda *_: _Unfailing(sys.stderr.buffer)
        ),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *(for_people if console else [_json_text]),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(number)
    logging.captureWarnings(capture=True)


class _Unfailing:
    """Writes whole lines to a stream while that is possible.

    A full disk under the log, or a reader who left, must neither stop a pod nor this process.
    """

    def __init__(self, stream: IO[Any]) -> None:
        self._write, self._flush = stream.write, stream.flush

    def write(self, line: Any) -> None:  # noqa: ANN401  text or bytes, as the stream takes
        try:
            self._write(line)
            self._flush()
        except OSError:
            return

    def flush(self) -> None:
        """Do nothing: every line has been written."""


def _json_logger(least: int) -> type:
    """Make a logger for structlog that writes JSON lines of at least this level.

    Every admission writes one, and structlog's own chain of processors costs a third of what the
    whole decision does. Like structlog's, it has a method per level that takes an event and fields.
    A line stays one line whatever a value holds: JSON escapes line ends, so nobody can forge one.
    """

    class JsonLogger:
        def __init__(self, logger: Any, processors: object, context: dict[str, Any]) -> None:  # noqa: ANN401  structlog's own signature
            del processors
            self._logger, self._context = logger, context
            self._write = logger.write  # looked up once: every admission uses it

        def bind(self, **fields: object) -> JsonLogger:
            return JsonLogger(self._logger, None, {**self._context, **fields})

    def method(level: str) -> Any:  # noqa: ANN401  a method
        def log(self: Any, event: str, **fields: object) -> None:  # noqa: ANN401  a JsonLogger
            line = {"timestamp": _now(), "level": level, **self._context, **fields, "event": event}
            if "exc_info" in line:
                structlog.processors.format_exc_info(None, level, line)
            self._write(_harmless_json(_encode_json(line)) + b"\n")

        return log if logging.getLevelNamesMapping()[level.upper()] >= least else _nothing

    for level in ("debug", "info", "warning", "error"):
        setattr(JsonLogger, level, method(level))
    return JsonLogger


_DELETE = b"\x7f"
_ARROW = "→".encode()


def _harmless_json(line: bytes) -> bytes:
    """Escape what JSON lets pass as it is: DEL, C1 controls, what reorders or breaks lines."""
    # Our own sentences have arrows; looking at every character costs ten times as much.
    ascii_ = line if line.isascii() else line.replace(_ARROW, b"")
    if ascii_.isascii() and _DELETE not in line:
        return line
    text = line.decode()
    if text.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text).encode()


def _harmless(logger: object, level: str, event: EventDict) -> EventDict:
    """Let no text steer a terminal or begin a line; the renderer itself quotes only some.

    Lines of a traceback stay lines, indented: none of them can pass for one of the log.
    """
    event = structlog.processors.format_exc_info(logger, level, event)
    traceback = event.pop("exception", None)
    event = {key: _shown(it) if isinstance(it, str) else it for key, it in event.items()}
    if traceback is not None:
        lines = str(traceback).split("\n")
        event["exception"] = "\n".join(f"    {_shown(line)}" for line in lines)
    return event


def _shown(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def _nothing(*_: object, **__: object) -> None:
    """Log nothing: the level is too low."""


def _json_text(logger: object, level: str, event: EventDict) -> str:
    """Make the line of what a library logs."""
    if "exc_info" in event:
        event = structlog.processors.format_exc_info(logger, level, event)
    return _harmless_json(_encode_json({"timestamp": _now(), "level": level, **event})).decode()


def _now() -> str:
    """Show the time in UTC, with milliseconds."""
    second, millis = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(second)}.{millis:03d}+00:00"


@lru_cache(maxsize=1)  # most lines share theirs with the one before
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def logger() -> Any:  # noqa: ANN401  what structlog returns depends on its configuration
    """Return a logger for events with fields: `logger().info("what happened", pod=name)`.

    Call it after `set_up`: what it returns is bound to what was set up then.
    """
    return structlog.get_logger().bind()
