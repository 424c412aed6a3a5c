"""One configured client: raw requests with timeouts, keep-alive, a name and current credentials.

For: everything that travels to the API server.
Not for: models. Answers stay bytes, and what is sent is what the caller built.

What it costs (Python 3.11, urllib3 2.8, one of two shared cores, cached byte code; figures of a
process that has nothing else loaded):
    this package and urllib3        0.16 s   +17 MiB resident (Python alone: 9)
    `connect` in a pod              0.01 s   +0.4 MiB
    `connect` with a kubeconfig    +0.25 s   +19 MiB (`import kubernetes`: its __init__ imports
                                             every subpackage, and pydantic)
That is why `kubernetes` is imported inside the one function that reads kubeconfigs (decision 0018).
"""

from __future__ import annotations

import logging
import threading
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError, SSLError

from evencore.kube import configuration, errors
from evencore.kube.reply import Reply
from evencore.kube.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from urllib3 import BaseHTTPResponse

    from evencore.kube.access import Access

_log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 5.0
"""TCP and TLS: the API server is near, or not there."""

READ_TIMEOUT_S = 30.0
"""Between two bytes of an ordinary answer. The API server queues a request for up to 15 s."""

_REFUSAL_BYTES = 64 * 1024
"""Of a refusal's body: a Status object is far smaller, anything else is not worth reading."""

AGENT = "evencore"
"""Who we say we are, before the slash and the version: audit logs and flow schemas show it."""

JSON = "application/json"

_OK = range(200, 300)
_UNAUTHORIZED = 401


def connect(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    agent: str = AGENT,
    found: Access | None = None,
) -> Client:
    """Make a client for the configuration that applies; see `configuration.load`.

    `found`: what that gave already. Raises NoConfiguration. Sends nothing yet: a server that is
    down is no error here.
    """
    return Client(lambda: configuration.load(kubeconfig, context), agent=agent, found=found)


class Client:
    """Sends requests; safe to share between threads.

    `load` gives the configuration. It is called again after a 401 and where TLS failed, so that a
    token file, an exec plugin or a certificate that has changed since is picked up; tokens that
    are known to end are renewed before that, in a pod every minute. `agent`: the name in the user
    agent. `found`: what `load` gave already.
    """

    def __init__(
        self, load: Callable[[], Access], *, agent: str = AGENT, found: Access | None = None
    ) -> None:
        self._load = load
        self._agent = f"{agent}/{_own_version()}"
        self._lock = threading.Lock()
        self._transport = Transport(found or load())

    @property
    def server(self) -> str:
        """The API server's URL."""
        return self._transport.access.host

    def get(
        self,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        *,
        accept: str = JSON,
        read_timeout_s: float = READ_TIMEOUT_S,
    ) -> Reply:
        """GET `path`; returns when the head of a 2xx answer is there. The caller closes the reply.

        `read_timeout_s`: the longest silence between two bytes, also before the first. Raises a
        KubeError for any other answer and for none. Nothing is repeated here.
        """
        return self._ask("GET", path, query, {"Accept": accept}, None, read_timeout_s)

    def write(  # noqa: PLR0913  the last three have defaults
        self,
        verb: str,
        path: str,
        body: object,
        query: Sequence[tuple[str, str]] = (),
        *,
        content_type: str = JSON,
        read_timeout_s: float = READ_TIMEOUT_S,
    ) -> bytes:
        """POST, PATCH or DELETE with `body` as JSON; returns the body of a 2xx answer.

        Raises a KubeError for any other answer and for none. Nothing is repeated here, and after
        Unavailable nobody knows whether it was done: only what may come twice may be sent again.
        """
        headers = {"Accept": JSON, "Content-Type": content_type}
        reply = self._ask(verb, path, query, headers, body, read_timeout_s)
        try:
            return reply.read()
        finally:
            reply.close()

    def _ask(  # noqa: PLR0913, PLR0917  what a request is made of
        self,
        verb: str,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: dict[str, str],
        body: object,
        read_timeout_s: float,
    ) -> Reply:
        transport = self._transport
        call = errors.Call(verb, path, self.server)
        headers = {**headers, "User-Agent": self._agent}
        if authorization := _authorization(call, transport.access):
            headers["Authorization"] = authorization
        # Who has no time to wait for an answer has none to wait for a connection either.
        connect_timeout_s = min(CONNECT_TIMEOUT_S, read_timeout_s)
        try:
            raw = transport.send(
                verb,
                path,
                query,
                headers,
                body,
                connect_timeout_s=connect_timeout_s,
                read_timeout_s=read_timeout_s,
            )
        except (HTTPError, OSError, ValueError) as error:
            # One at a proxy's door comes within another.
            if isinstance(getattr(error, "original_error", error), SSLError):
                self._reload(transport)
            # ValueError: a header that is none; it would quote the token, so it is not chained.
            quotes = isinstance(error, ValueError) and not isinstance(error, HTTPError)
            raise errors.from_exception(call, error) from (None if quotes else error)
        if raw.status in _OK:
            return Reply(call, raw)
        refused = _refusal(call, raw)
        if raw.status == _UNAUTHORIZED:
            self._reload(transport)
        raise refused

    def _reload(self, failed: Transport) -> None:
        """Load the configuration again, unless another thread did since `failed` was in use."""
        with self._lock:
            if self._transport is not failed:
                return
            try:
                self._transport = Transport(self._load())
            except errors.NoConfiguration as error:
                _log.warning(
                    "the credentials could not be loaded again, so the old ones stay in use: %s",
                    error,
                )
                return
        # Watches that are open on the old one keep their connections; only idle ones close.
        failed.close()

    def close(self) -> None:
        """Close the idle connections."""
        self._transport.close()


def _authorization(call: errors.Call, access: Access) -> str | None:
    try:
        value = access.authorization()
    except Exception as error:
        # There are as many ways to fail as there are credential plugins; none of them must end a
        # reflector's thread.
        text = f"{call} was not sent: the credentials could not be read ({type(error).__name__})"
        raise errors.Unauthorized(f"{text}: {errors.Unauthorized.advice}") from error
    # Tokens end in a newline as often as not, and http.client refuses such a header.
    return value and value.strip()


def _refusal(call: errors.Call, raw: BaseHTTPResponse) -> errors.KubeError:
    try:
        body = raw.read(_REFUSAL_BYTES)
    except (HTTPError, OSError) as error:
        raise errors.from_exception(call, error) from error
    finally:
        raw.close()
    return errors.from_answer(call, raw.status, body, raw.headers)


def _own_version() -> str:
    try:
        return version("evencore")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "unknown"
