"""Logs as people see them on a terminal: structlog's lines, in which no text steers anything.

Not for: logs in pods, see `logs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO, cast

import structlog

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

    from structlog.typing import EventDict, Processor


def for_people(
    least: int, stream: object, *, colors: bool
) -> tuple[logging.Formatter, Callable[[], Any]]:
    """Return the formatter of what libraries log, and what makes our own loggers.

    Our own write to `stream` themselves, what is at least of level `least`.
    """
    processors: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _harmless,
        structlog.dev.ConsoleRenderer(colors=colors),
    ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", stream)),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.ExtraAdder()],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *processors],
    )
    return formatter, lambda: structlog.get_logger().bind()


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
