"""Requests to one API server over urllib3: connections that are kept, TLS, a proxy, the URL.

For: the way of bytes. What comes back is urllib3's own answer, its body still on the wire.
Not for: credentials, errors of our own and statuses; those are `client`'s.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from urllib3 import PoolManager, ProxyManager, Timeout
from urllib3.connection import HTTPConnection
from urllib3.exceptions import SSLError
from urllib3.util.ssl_ import create_urllib3_context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from urllib3 import BaseHTTPResponse

    from evencore.kube.access import Access

POOL_SIZE = 16
"""Connections kept for reuse: a handful of watches hold one each, the rest is for writes."""

_KEEP_ALIVE = [
    *HTTPConnection.default_socket_options,
    # 30 s idle, 15 s between probes, as client-go: a peer that vanished is noticed.
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 9))
        if hasattr(socket, name)  # not everywhere
    ),
]


class Transport:
    """Sends requests; safe to share between threads.

    Files of certificates are read once, before the first request: each connection would read them
    again, and keep a copy of all authorities. A transport that fails over TLS is to be replaced.
    """

    def __init__(self, access: Access) -> None:
        """Read nothing yet, and open no connection."""
        self.access = access
        self._tls = _Tls(access)
        self._pools = _pools(access, self._tls)

    def send(  # noqa: PLR0913  what a request is made of
        self,
        verb: str,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        body: object,
        *,
        connect_timeout_s: float,
        read_timeout_s: float,
    ) -> BaseHTTPResponse:
        """Send one request, `body` as JSON unless it is None; returns when the head is there.

        Nothing is repeated and no redirect followed: a token goes where it was meant to go. Raises
        urllib3's HTTPError, OSError, and ValueError for a header that cannot be sent.
        """
        self._tls.read_files()
        url = self.access.host + path
        if query:
            url += "?" + "&".join(f"{name}={quote(value)}" for name, value in query)
        return self._pools.urlopen(
            verb,
            url,
            body=None if body is None else json.dumps(body).encode(),
            headers=headers,
            timeout=Timeout(connect=connect_timeout_s, read=read_timeout_s),
            # urllib3 would repeat requests and sleep through Retry-After on its own, out of sight
            # of the back-off, of the pace and of a stop.
            retries=False,
            redirect=False,
            preload_content=False,
        )

    def close(self) -> None:
        """Close the idle connections; those that are in use go on."""
        self._pools.clear()


class _Tls:
    """Whom we trust and how we prove who we are, once the files are read.

    Contexts are made as urllib3 makes them for each connection: same versions, same flags.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._lock = threading.Lock()
        self._read = not any(
            url.lower().startswith("https:") for url in (access.host, access.proxy or "")
        )
        required = ssl.CERT_REQUIRED if access.verify else ssl.CERT_NONE
        self.server = create_urllib3_context(cert_reqs=required)
        # A proxy that is spoken to over TLS is not shown our client certificate.
        self.proxy = create_urllib3_context(cert_reqs=required) if access.proxy else None

    def read_files(self) -> None:
        """Read what has not been read. Raises SSLError, which names the file; may be repeated."""
        with self._lock:
            if self._read:
                return
            access = self._access
            if access.verify:
                self._trust(access.ca_file)
            if access.cert_file:
                try:
                    self.server.load_cert_chain(access.cert_file, access.key_file, _ask_nobody)
                except OSError as error:
                    raise SSLError(f"client certificate {access.cert_file}: {error}") from error
            self._read = True

    def _trust(self, ca_file: str | None) -> None:
        for context in filter(None, (self.server, self.proxy)):
            if ca_file is None:
                context.load_default_certs()
                continue
            try:
                context.load_verify_locations(ca_file)
            except OSError as error:
                raise SSLError(f"certificate authority {ca_file}: {error}") from error


def _ask_nobody() -> NoReturn:
    # OpenSSL would ask at the terminal, in the middle of a request.
    raise SSLError("the key of the client certificate is encrypted, which needs a password")


def _pools(access: Access, tls: _Tls) -> PoolManager:
    settings: dict[str, Any] = {
        "maxsize": POOL_SIZE,
        "socket_options": _KEEP_ALIVE,
        "ssl_context": tls.server,
    }
    if access.tls_server_name:
        settings["server_hostname"] = access.tls_server_name
    if access.proxy is None:
        return PoolManager(**settings)
    if not access.proxy.lower().startswith("socks"):
        return ProxyManager(access.proxy, proxy_ssl_context=tls.proxy, **settings)
    from urllib3.contrib.socks import SOCKSProxyManager  # noqa: PLC0415  hardly anybody has one

    return SOCKSProxyManager(access.proxy, **settings)
