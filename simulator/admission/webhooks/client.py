"""Calls a webhook within its time: connections, retries, and Go's words for what goes wrong.

Kubernetes rules: one POST; a transport error is not retried; 429 and 5xx with Retry-After are,
up to ten times, within the timeout (client-go rest.Request). HTTP/1.1 by ALPN.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from simulator.admission.webhooks.answers import CannotCall
from simulator.admission.webhooks.pool import Pool
from simulator.admission.webhooks.wire import Answer, BadAnswer, Connection

if TYPE_CHECKING:
    from simulator.admission.webhooks.model import Endpoint

Services = Mapping[tuple[str, str], tuple[str, int]]
"""Namespace and name of a Service → host and port on this machine."""

_RETRIES: Final = 10
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
_GOOD: Final = range(200, 207)
_MEDIA: Final = ("", "application/json")
# client-go: apierrors.NewGenericServerResponse, without a resource to name.
_TEXTS: Final = {
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: (
        "the server was unable to return a response in the time allotted, but may still be "
        "processing the request"
    ),
}
# OpenSSL's verdicts (X509_V_ERR_...) in Go's words.
_UNKNOWN_AUTHORITY: Final = (2, 18, 19, 20, 21)
_NOT_IN_TIME: Final = (9, 10)
_OTHER_NAME: Final = (62, 64)


class Client:
    """Calls webhooks. `services` tells where a Service is, for there is no cluster network."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._pools: dict[tuple[str, str, bytes], Pool] = {}

    async def post(self, endpoint: Endpoint, body: bytes, timeout_s: int) -> bytes:
        """Send a review; returns the body of a good answer. Raises CannotCall."""
        url = f"https://{endpoint.authority}{endpoint.path}?timeout={timeout_s}s"
        request = _request(endpoint, body, timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._ask(endpoint, request)
        except TimeoutError as error:
            why = "context deadline exceeded"
            if str(error):  # the kernel gave up, not we
                why = "dial tcp: connect: connection timed out"
            raise CannotCall(f'failed to call webhook: Post "{url}": {why}') from error
        except (OSError, BadAnswer, _NoService) as error:
            why = _in_words(error, endpoint.server_name)
            raise CannotCall(f'failed to call webhook: Post "{url}": {why}') from error
        why = _why_bad(answer)
        if why:
            raise CannotCall(f"failed to call webhook: {why}")
        return answer.body

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()

    def keep_only(self, endpoints: set[tuple[str, str, bytes]]) -> None:
        """Close the connections to places that nobody asks any more."""
        for key in [key for key in self._pools if key not in endpoints]:
            self._pools.pop(key).close()

    async def _ask(self, endpoint: Endpoint, request: bytes) -> Answer:
        retries = 0
        while True:
            answer = await self._once(endpoint, request)
            wait_s = _retry_after(answer)
            if wait_s is None or retries == _RETRIES:
                return answer
            retries += 1
            await asyncio.sleep(wait_s)

    async def _once(self, endpoint: Endpoint, request: bytes) -> Answer:
        pool = self._pools.get(endpoint.connects_like)
        if pool is None:
            pool = self._pools[endpoint.connects_like] = self._pool(endpoint)
        connection = await pool.take()
        try:
            return await connection.ask(request)
        finally:
            pool.give(connection)

    def _pool(self, endpoint: Endpoint) -> Pool:
        try:
            context = _context(endpoint.ca)
        except ssl.SSLError as error:
            why = "unable to load root certificates: unable to parse bytes as PEM block"
            raise CannotCall(f"could not get REST client: {why}") from error

        async def dial() -> Connection:
            host, port = self._address(endpoint)
            try:
                return await Connection.open(host, port, context, endpoint.server_name)
            except ConnectionRefusedError as error:
                raise BadAnswer(f"dial tcp {host}:{port}: connect: connection refused") from error

        return Pool(dial)

    def _address(self, endpoint: Endpoint) -> tuple[str, int]:
        service = endpoint.service
        if service is None:
            return endpoint.host, endpoint.port
        found = self._services.get((service.namespace, service.name))
        if found is None:
            raise _NoService(f'service "{service.name}" not found')
        return found


class _NoService(Exception):  # noqa: N818  in the words of the API server's resolver
    """A Service that nobody has mapped."""


def _request(endpoint: Endpoint, body: bytes, timeout_s: int) -> bytes:
    lines = (
        f"POST {endpoint.path}?timeout={timeout_s}s HTTP/1.1",
        f"Host: {endpoint.authority}",
        "User-Agent: kube-apiserver-admission",
        f"Content-Length: {len(body)}",
        "Accept: application/json, */*",
        "Content-Type: application/json",
        "Accept-Encoding: gzip",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _context(ca: bytes) -> ssl.SSLContext:
    """Trust these authorities only, and names of the certificate's SAN only, as Go does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.hostname_checks_common_name = False
    context.set_alpn_protocols(["http/1.1"])
    # Go takes any certificate among the roots for an anchor, a leaf too.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if ca:
        context.load_verify_locations(cadata=ca.decode("ascii", "replace"))
    else:
        context.load_default_certs()
    return context


def _retry_after(answer: Answer) -> int | None:
    """Tell after how many seconds to ask again; None: not at all."""
    text = answer.headers.get("retry-after", "")
    if answer.status != _TOO_MANY and answer.status < _SERVER_ERROR:
        return None
    return int(text) if text.isdecimal() else None


def _why_bad(answer: Answer) -> str:
    """Say why there is no review in an answer; empty: there may be one."""
    said = answer.body.decode("utf-8", "replace").strip()
    if answer.status not in _GOOD:
        if answer.status in _TEXTS:
            return _TEXTS[answer.status]
        if answer.status >= _SERVER_ERROR:
            return f'an error on the server ("{said}") has prevented the request from succeeding'
        return said or "the server rejected our request for an unknown reason"
    media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return "" if media in _MEDIA else f"serializer for {media} doesn't exist"


def _in_words(error: Exception, server_name: str) -> str:
    """Say in Go's words why a request failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_distrust(error, server_name)}"
    if isinstance(error, ssl.SSLError):
        return f"tls: {error.reason or error}"
    if isinstance(error, ConnectionAbortedError):  # how asyncio says so
        return "net/http: TLS handshake timeout"
    if isinstance(error, ConnectionResetError):
        return "read: connection reset by peer"
    return str(error)


def _distrust(error: ssl.SSLCertVerificationError, server_name: str) -> str:
    if error.verify_code in _UNKNOWN_AUTHORITY:
        return "certificate signed by unknown authority"
    if error.verify_code in _NOT_IN_TIME:
        return "certificate has expired or is not yet valid"
    if error.verify_code in _OTHER_NAME:
        return f"certificate is not valid for {server_name}"
    return error.verify_message
