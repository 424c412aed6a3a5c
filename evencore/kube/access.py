"""Where the API server is and who we are to it, as a value.

For: what `configuration` finds and `transport` uses, the same for a pod and for a kubeconfig.
Not for: the secrets themselves; a value that is printed shows none.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct


class Access(Struct, frozen=True):
    """How to reach one API server. Files are read when there is something to send, not before."""

    host: str
    """The URL up to the path, without a slash at its end."""

    authorization: Callable[[], str | None]
    """The value of that header now, None for none; asked before each request.

    It may read a file or run a plugin, and raise whatever that raises.
    """

    ca_file: str | None = None
    """PEM: who may have signed the server's certificate; None for those that the system trusts."""

    cert_file: str | None = None
    key_file: str | None = None
    """PEM: our client certificate and its key, if we have one."""

    verify: bool = True
    """False as of insecure-skip-tls-verify: any certificate will do."""

    tls_server_name: str | None = None
    """The name that the server's certificate must have, if it is not the host's."""

    proxy: str | None = None
    """The URL of the proxy on the way, which no_proxy has been asked about already."""
