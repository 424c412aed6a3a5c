"""Which proxy, if any, is on the way to the API server.

For: HTTPS_PROXY, ALL_PROXY and NO_PROXY, read as the official client reads them; tests compare.
Not for: talking to proxies; that is `transport`. Nor the settings of a desktop, which
`urllib.request` would look up too; that comes with half a library of mail.
"""

from __future__ import annotations

import ipaddress
import os
from importlib.util import find_spec
from urllib.parse import urlsplit

from evencore.kube.errors import NoConfiguration

_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")


def from_environment(host: str) -> str | None:
    """Find the proxy that the environment wants for `host`, a URL.

    The variable is named after the scheme of `host`, in either case. Raises NoConfiguration as
    `on_the_way`, ValueError for a host that is no URL.
    """
    proxy = _variable(f"{urlsplit(host).scheme}_proxy") or _variable("all_proxy")
    return on_the_way(host, proxy, _variable("no_proxy"))


def _variable(name: str) -> str | None:
    """Return a variable; the one in small letters goes before, even an empty one."""
    return os.environ.get(name, os.environ.get(name.upper()))


def on_the_way(host: str, proxy: object, no_proxy: str | None) -> str | None:
    """Return `proxy`, or None if `no_proxy` names the host.

    Raises NoConfiguration for one that is no address, without quoting it, for it may hold a
    password, and for one that speaks SOCKS where that cannot be spoken. Raises ValueError for a
    host that is no URL.
    """
    if not proxy or bypassed(host, no_proxy or ""):
        return None
    scheme = _scheme(proxy) if isinstance(proxy, str) else ""
    if not isinstance(proxy, str) or scheme not in _SCHEMES:
        allowed = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise NoConfiguration(
            "the proxy on the way to the API server cannot be used: "
            f"its address must begin with one of {allowed} and go on with a host: "
            "correct proxy-url in the kubeconfig, or HTTPS_PROXY"
        )
    if scheme.startswith("socks") and find_spec("socks") is None:
        raise NoConfiguration(
            "the proxy on the way to the API server cannot be used: it speaks SOCKS, and the "
            "package PySocks is not installed: install it, or name a proxy that speaks HTTP"
        )
    return proxy


def _scheme(proxy: str) -> str:
    """Return the scheme of an address that urllib3 can use, else nothing: it would quote it."""
    from urllib3.util import parse_url  # noqa: PLC0415  hardly anybody has a proxy

    try:
        url = parse_url(proxy)
    except ValueError:
        return ""
    return (url.scheme or "") if url.host else ""


def bypassed(host: str, no_proxy: str) -> bool:
    """Tell whether one of the comma-separated `no_proxy` stands for the URL `host`.

    A name stands for itself and all below it, with or without its port; an address or a network
    for what is in it; * for everything.
    """
    url = urlsplit(host)
    if not url.hostname:
        return True
    name, with_port = url.hostname, url.netloc.lower()
    for entry in filter(None, (entry.strip().lower() for entry in no_proxy.split(","))):
        if entry == "*" or _within(name, entry):
            return True
        bare = entry.lstrip(".")
        if any(one == bare or one.endswith(f".{bare}") for one in (name, with_port)):
            return True
    return False


def _within(name: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(name) in ipaddress.ip_network(network, strict=False)
    except ValueError:  # one of them is a name
        return False
