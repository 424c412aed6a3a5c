"""The product's client, on a wire that is none: what is below it alone is not the real one.

For: requests that take their time and may be given up. Errors, lines and replies are read by the
product's own code.
Not for: HTTP, TLS and credentials; those have tests on a real wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from urllib3.exceptions import ProtocolError, ReadTimeoutError

from evencore.kube import errors
from evencore.kube.client import Client
from evencore.kube.reply import Reply
from simulator.api.http import Request
from simulator.objects import encode
from simulator.switchboard import Dropped
from soak.wire import Flow, Pipe, Weather

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from soak.wire import Wire

_OK = range(200, 300)


class _Body:
    """A whole body, as urllib3 gives it."""

    chunked = False

    def __init__(self, body: bytes) -> None:
        self._body = body

    def read(self, _: int = -1) -> bytes:
        return self._body

    def shutdown(self) -> None:
        pass

    close = shutdown


class PocketClient(Client):
    """The product's client; only what is below it is not the real one.

    `look` is shown each write as it arrives, with how long it was on its way (s).
    """

    def __init__(
        self,
        wire: Wire,
        agent: str,
        weather: Weather | None = None,
        look: Callable[[str, str, Any, float], None] = lambda *_: None,
    ) -> None:
        self._wire, self._agent, self._look = wire, agent, look
        self.weather = weather or Weather(request_s=0.0)

    @property
    def server(self) -> str:
        """Where the API server would be."""
        return "https://pocket"

    def close(self) -> None:
        """Nothing is open."""

    def _ask(  # noqa: PLR0913, PLR0917  as the client has it
        self,
        verb: str,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: dict[str, str],
        body: object,
        read_timeout_s: float,
    ) -> Reply:
        call, stage = errors.Call(verb, path, self.server), self._wire.stage
        took_s = self.weather.request_s * self._wire.chance.uniform(0.5, 2)
        watches = ("watch", "true") in query
        if took_s > read_timeout_s:  # nobody waits for the answer, but the request arrives
            stage.wait(read_timeout_s)
            if not watches and self._wire.chance.random() < 0.5:
                self._carry(verb, path, query, headers, body, read_timeout_s)
            raise errors.from_exception(call, ReadTimeoutError(None, path, "timed out"))  # type: ignore[arg-type]
        stage.wait(took_s / 2)
        try:
            answer = self._carry(verb, path, query, headers, body, took_s / 2)
        except Dropped as error:
            raise errors.from_exception(call, ProtocolError("Connection aborted")) from error
        stage.wait(took_s / 2)
        if isinstance(answer, Flow):
            return Reply(call, answer)  # type: ignore[arg-type]  as urllib3's, as far as we read
        if answer.status not in _OK:
            raise errors.from_answer(call, answer.status, answer.body, _Headers(answer.headers))
        return Reply(call, _Body(answer.body))  # type: ignore[arg-type]

    def _carry(  # noqa: PLR0913, PLR0917  as above
        self,
        verb: str,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: dict[str, str],
        body: object,
        late_s: float,
    ) -> Any:  # noqa: ANN401  a response or a flow
        if verb != "GET":
            self._look(verb, path, body, late_s)
        asked = dict(query)
        seconds = float(asked.pop("timeoutSeconds", 3600))
        asked.pop("allowWatchBookmarks", None)  # these two would come in real time
        sent = {"user-agent": f"{self._agent}/1", "authorization": "Bearer anybody"}
        sent |= {name.lower(): value for name, value in headers.items()}
        said = b"" if body is None else encode(body)
        pipe = Pipe(self.weather, self._wire.stage.now, self._wire.chance)
        request = Request(verb, unquote(path), asked, sent, said)
        answer = self._wire.ask(request, pipe, settle=verb != "GET")
        return Flow(self._wire, pipe, answer, seconds) if callable(answer) else answer


class _Headers(dict[str, str]):
    """Headers of an answer, as urllib3 finds them: whatever their case."""

    def get(self, name: str, default: Any = None) -> Any:  # type: ignore[override]  # noqa: ANN401
        return next((v for k, v in self.items() if k.lower() == name.lower()), default)
