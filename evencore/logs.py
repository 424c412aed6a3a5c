"""The set-up of logs: for people on a terminal, JSON lines elsewhere, on stderr.

What libraries log through `logging` comes out in the same shape. Nothing is set up on import.
Not for: how people see them (`console_logs`): in a pod nobody looks, and structlog, which shows
them, is a twentieth of a start.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

_encode_json = msgspec.json.Encoder(enc_hook=str).encode

_made: Callable[[], Any] | None = None
"""What makes loggers since logs were set up."""


def set_up(
    level: Literal["debug", "info", "warning", "error"],
    shape: Literal["auto", "console", "json"] = "auto",
) -> None:
    """Set up logs for this process. Call it once, before anything logs; forks inherit it."""
    global _made  # for the whole process, as what `logging` has
    if sys.stderr is None:  # it was closed when the process started
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115  open as long as the process lives
    number = logging.getLevelNamesMapping()[level.upper()]
    handler = logging.StreamHandler(sys.stderr)
    if shape == "console" or (shape == "auto" and sys.stderr.isatty()):
        from evencore.console_logs import for_people  # noqa: PLC0415  see the top

        formatter, _made = for_people(number, _Unfailing(sys.stderr), colors=sys.stderr.isatty())
    else:
        formatter, _made = _JsonFormatter(), lambda: _json(number)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(number)
    logging.captureWarnings(capture=True)


def logger() -> Any:  # noqa: ANN401  what is made for people and for machines has no common type
    """Return a logger for events with fields: `logger().info("what happened", pod=name)`.

    Call it after `set_up`: what it returns is bound to what was set up then.
    """
    return _made() if _made is not None else _json(logging.INFO)


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
    """Make a kind of logger that writes JSON lines of at least this level.

    Every admission writes one, and structlog's own chain of processors costs a third of what the
    whole decision does. Like structlog's, it has a method per level that takes an event and fields.
    A line stays one line whatever a value holds: JSON escapes line ends, so nobody can forge one.
    """

    class JsonLogger:
        def __init__(self, write: Callable[[bytes], None], context: dict[str, Any]) -> None:
            self._write, self._context = write, context

        def bind(self, **fields: object) -> JsonLogger:
            return JsonLogger(self._write, {**self._context, **fields})

    def method(level: str) -> Any:  # noqa: ANN401  a method
        def log(self: Any, event: str, **fields: object) -> None:  # noqa: ANN401  a JsonLogger
            line = {"timestamp": _now(), "level": level, **self._context, **fields, "event": event}
            if "exc_info" in line:
                _tell_error(line, line.pop("exc_info"))
            self._write(_harmless_json(_encode_json(line)) + b"\n")

        return log if logging.getLevelNamesMapping()[level.upper()] >= least else _nothing

    for level in ("debug", "info", "warning", "error"):
        setattr(JsonLogger, level, method(level))
    return JsonLogger


def _json(least: int) -> Any:  # noqa: ANN401  see logger
    # Straight to the stream: the line of every admission does not go through `logging`.
    return _json_logger(least)(_Unfailing(sys.stderr.buffer).write, {})


class _JsonFormatter(logging.Formatter):
    """Makes the lines of what libraries log."""

    def format(self, record: logging.LogRecord) -> str:
        """Make one."""
        more = {name: value for name, value in vars(record).items() if name not in _RECORD}
        line = {
            "timestamp": _now(),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **more,
        }
        if record.exc_info:
            _tell_error(line, record.exc_info[1])
        if record.stack_info:
            line["stack_info"] = record.stack_info
        return _harmless_json(_encode_json(line)).decode()


_RECORD: Final = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime"})
"""What every record has; the rest was given to it as `extra`."""


def _tell_error(line: dict[str, Any], error: Any) -> None:  # noqa: ANN401  an exception, or nothing
    if isinstance(error, BaseException):
        line["exception"] = "".join(traceback.format_exception(error)).removesuffix("\n")


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
    import json  # noqa: PLC0415  a line like that is rare, and nothing else here needs it

    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text).encode()


def _nothing(*_: object, **__: object) -> None:
    """Log nothing: the level is too low."""


def _now() -> str:
    """Show the time in UTC, with milliseconds."""
    second, millis = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(second)}.{millis:03d}+00:00"


@lru_cache(maxsize=1)  # most lines share theirs with the one before
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
