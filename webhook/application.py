"""What gunicorn serves: the bare admission path, and Flask for the rest.

Flask is imported when somebody first asks for what it serves: an admission does not wait for that
at the start of a process, nor later, for a thread does it. Not for: pages (webhook.app).
"""

import asyncio
from collections.abc import Callable

from msgspec import Struct, field

from evencore.lasting import lasting
from webhook.asgi import Admission, Answer, Application, Limits, Receive, Scope, Send


class Dependencies(Struct, frozen=True, kw_only=True):
    """What the webhook's HTTP side needs from the rest of the program."""

    answer: Answer
    readiness: Callable[[], list[str]]
    """Why this process is not ready, one line each; empty when it is."""

    metrics: Callable[[], tuple[bytes, str]]
    """The metrics page and its content type."""

    limits: Limits = field(default_factory=Limits)
    refused: Callable[[int], None] | None = None
    """Told the HTTP status of each request that was turned away unanswered."""


def create_asgi(dependencies: Dependencies) -> Admission:
    """Make the whole application."""
    return Admission(
        dependencies.answer,
        Later(lambda: _rest(dependencies)),
        dependencies.limits,
        dependencies.refused,
    )


class Later:
    """An ASGI application that `make` makes, in a thread, when the first request comes.

    What `make` raises is raised to each request: gunicorn logs it and answers 500.
    """

    def __init__(self, make: Callable[[], Application]) -> None:
        self._make = make
        self._made: asyncio.Task[Application] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; those that come while the application is made wait for it."""
        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(self._make))
        # A client that leaves must not take the application along that others wait for.
        application = await asyncio.shield(self._made)
        await application(scope, receive, send)


def _rest(dependencies: Dependencies) -> Application:
    with lasting():
        from asgiref.wsgi import WsgiToAsgi  # noqa: PLC0415 - see the top

        from webhook.app import create_app  # noqa: PLC0415 - see the top

        return WsgiToAsgi(create_app(dependencies))  # type: ignore[no-untyped-call] # asgiref has no types here
