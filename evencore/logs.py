"""The set-up of logs: structlog, for people on a terminal, JSON lines elsewhere, on stderr.

What libraries log through `logging` comes out in the same shape. Nothing is set up on import.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import structlog

if TYPE_CHECKING:
    from structlog.typing import Processor

_encode_json = msgspec.json.Encoder(enc_hook=str).encode


def set_up(
    level: Literal["debug", "info", "warning", "error"],
    shape: Literal["auto", "console", "json"] = "auto",
) -> None:
    """Set up logs for this process. Call it once, before anything logs; forks inherit it."""
    number = logging.getLevelNamesMapping()[level.upper()]
    console = shape == "console" or (shape == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    final: list[Processor] = (
        [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
        if console
        else [structlog.processors.dict_tracebacks, _json]
    )
    structlog.configure(
        processors=[*shared, *final],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        # Straight to the stream: the path of every admission does not go through `logging`.
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.stdlib.ExtraAdder(),
                *final,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(number)
    logging.captureWarnings(capture=True)


def _json(_logger: object, _method: str, event: Any) -> str:  # noqa: ANN401  structlog's own type is as wide
    # One line per event whatever it holds: JSON escapes line ends, so none can be forged.
    return _encode_json(event).decode()


def logger() -> Any:  # noqa: ANN401  what structlog returns depends on its configuration
    """Return a logger for events with fields: `logger().info("what happened", pod=name)`."""
    return structlog.get_logger()
