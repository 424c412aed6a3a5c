"""One configured client: raw requests with timeouts, keep-alive, a name and current credentials.

For: everything that travels to the API server. The official client authenticates, sets up TLS and
proxies and builds the URL; `param_serialize` and `call_api` hand back urllib3's raw stream.
Not for: models. No API class and no model is imported: answers stay bytes, and what is sent is
what the caller built.

What the import costs (Python 3.11, kubernetes 37.0.2, one of two shared cores, cached byte code):
    this package                   0.16 s   25 MiB resident (mostly urllib3; Python alone: 8)
    the first `connect`           +0.25 s  +18 MiB (`import kubernetes`: its __init__ imports every
                                           subpackage, so importing less of it saves nothing)
    `client.CoreV1Api`, not here   +0.8 s  +22 MiB
That is why `kubernetes` is imported inside the functions that need it: a process that never
connects never pays, one that does can serve before it has paid.
"""

from __future__ import annotations

import logging
import threading
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from urllib3.exceptions import HTTPError

from evencore.kube import configuration, errors
from evencore.kube.reply import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubernetes.client.configuration import Configuration

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
    kubeconfig: str | None = None, context: str | None = None, *, agent: str = AGENT
) -> Client:
    """Make a client for the configuration that applies; see `configuration.load`.

    Raises NoConfiguration. Sends nothing yet: a server that is down is no error here.
    """
    return Client(lambda: configuration.load(kubeconfig, context), agent=agent)


class Client:
    """Sends requests; safe to share between threads.

    `load` gives the configuration. It is called again after a 401, so that a token file, an exec
    plugin or a client certificate that has changed since is picked up; the in-cluster token is
    also read again every minute. `agent`: the name in the user agent.
    """

    def __init__(self, load: Callable[[], Configuration], *, agent: str = AGENT) -> None:
        self._load = load
        self._agent = agent
        self._lock = threading.Lock()
        self._api = _api_client(load(), agent)

    @property
    def server(self) -> str:
        """The API server's URL."""
        return str(self._api.configuration.host)

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
        api = self._api
        call = errors.Call(verb, path, self.server)
        try:
            request = api.param_serialize(
                verb,
                path,
                query_params=list(query),
                header_params=headers,
                auth_settings=["BearerToken"],
            )
        except Exception as error:
            # Reading the token again is the only thing here that can fail, in as many ways as
            # there are credential plugins; none of them must end a reflector's thread.
            text = (
                f"{call} was not sent: the credentials could not be read ({type(error).__name__})"
            )
            raise errors.Unauthorized(f"{text}: {errors.Unauthorized.advice}") from error
        method, url, sent, _, fields = request
        if "authorization" in sent:
            # Token files end in a newline as often as not, and http.client refuses such a header.
            sent["authorization"] = sent["authorization"].strip()
        # The body is plain values; the official client would copy it all in search of models.
        raw = self._send(api, call, (method, url, sent, body, fields), read_timeout_s)
        if raw.status in _OK:
            return Reply(call, raw)
        try:
            refusal = raw.read(_REFUSAL_BYTES)
        except (HTTPError, OSError) as error:
            raise errors.from_exception(call, error) from error
        finally:
            raw.close()
        if raw.status == _UNAUTHORIZED:
            self._reload(api)
        raise errors.from_answer(call, raw.status, refusal, raw.headers)

    def _send(self, api: Any, call: errors.Call, request: Any, read_timeout_s: float) -> Any:  # noqa: ANN401  the official client has no types for these
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415  see the top

        # Who has no time to wait for an answer has none to wait for a connection either.
        timeouts = (min(CONNECT_TIMEOUT_S, read_timeout_s), read_timeout_s)
        try:
            return api.call_api(*request, _request_timeout=timeouts).response
        except (ApiException, HTTPError, OSError, ValueError) as error:
            # ApiException: how it reports TLS errors. OSError: a CA file that is gone.
            # ValueError: a header that is none; it would quote the token, so it is not chained.
            quotes = isinstance(error, ValueError) and not isinstance(error, HTTPError)
            raise errors.from_exception(call, error) from (None if quotes else error)

    def _reload(self, refused: Any) -> None:  # noqa: ANN401  an ApiClient
        """Load the configuration again, unless another thread did since `refused` was in use."""
        with self._lock:
            if self._api is not refused:
                return
            try:
                self._api = _api_client(self._load(), self._agent)
            except errors.NoConfiguration as error:
                _log.warning("credentials were refused and could not be loaded again: %s", error)
                return
        # Watches that are open on the old one keep their connections; only idle ones close.
        refused.close()

    def close(self) -> None:
        """Close the idle connections."""
        self._api.close()


def _api_client(found: Configuration, agent: str) -> Any:  # noqa: ANN401  an ApiClient
    from kubernetes.client.api_client import ApiClient  # noqa: PLC0415  see the top

    api = ApiClient(found)
    api.user_agent = f"{agent}/{_own_version()}"
    return api


def _own_version() -> str:
    try:
        return version("evencore")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "unknown"
