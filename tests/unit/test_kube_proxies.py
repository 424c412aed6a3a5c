"""Proxies, and whom no_proxy keeps from them: ours against the official client."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.client.configuration import Configuration
from kubernetes.client.rest import should_bypass_proxies

from evencore.kube.errors import NoConfiguration
from evencore.kube.proxies import bypassed, from_environment, on_the_way

HOSTS = [
    "https://api.example.com:6443",
    "https://API.example.com",
    "https://10.0.0.1:443",
    "https://[fd00::1]:443",
    "http://localhost",
]


@pytest.mark.parametrize(
    ("host", "no_proxy", "want"),
    [
        pytest.param(HOSTS[0], "", False, id="nothing said"),
        pytest.param(HOSTS[0], "*", True, id="everything"),
        pytest.param(HOSTS[0], "api.example.com", True, id="the name"),
        pytest.param(HOSTS[0], " Example.COM ,other", True, id="a domain, in any case"),
        pytest.param(HOSTS[0], ".example.com", True, id="a domain with its dot"),
        pytest.param(HOSTS[0], "ample.com", False, id="half a label"),
        pytest.param(HOSTS[0], "api.example.com:6443", True, id="the name and its port"),
        pytest.param(HOSTS[0], "api.example.com:443", False, id="another port"),
        pytest.param(HOSTS[2], "10.0.0.0/8", True, id="a network"),
        pytest.param(HOSTS[2], "10.0.0.1/8", True, id="a network by one of its addresses"),
        pytest.param(HOSTS[2], "11.0.0.0/8", False, id="another network"),
        pytest.param(HOSTS[2], "fd00::/8", False, id="the other family"),
        pytest.param(HOSTS[3], "fd00::/8", True, id="a network of the other family"),
        pytest.param("nowhere", "other", True, id="no host at all"),
    ],
)
def test_who_is_kept_from_the_proxy(host: str, no_proxy: str, want: bool) -> None:  # noqa: FBT001  a table
    assert bypassed(host, no_proxy) is want
    assert should_bypass_proxies(host, no_proxy) is want


_ENTRIES = st.sampled_from(
    ["*", "com", ".com", "example.com", "api.example.com:6443", "10.0.0.0/9", "::/0", "[fd00::1]"]
) | st.text("abc.:/*,[]0189 ", max_size=12)


@given(host=st.sampled_from(HOSTS), entries=st.lists(_ENTRIES, max_size=4))
def test_the_official_client_keeps_the_same_from_it(host: str, entries: list[str]) -> None:
    no_proxy = ",".join(entries)
    assert bypassed(host, no_proxy) == should_bypass_proxies(host, no_proxy)


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"HTTPS_PROXY": "http://p:1"}, id="for the scheme"),
        pytest.param({"HTTP_PROXY": "http://p:1"}, id="for the other scheme"),
        pytest.param({"ALL_PROXY": "http://p:1"}, id="for all"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "all_proxy": "http://p:2"}, id="both"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "https_proxy": "http://p:2"}, id="both cases"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "https_proxy": ""}, id="taken back"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example.com"}, id="not for us"),
    ],
)
@pytest.mark.parametrize("host", HOSTS)
def test_the_official_client_finds_the_same_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], host: str
) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    official = Configuration()
    official.host = host
    kept = should_bypass_proxies(host, official.no_proxy or "")
    assert from_environment(host) == (None if kept else official.proxy)


def test_a_proxy_that_speaks_socks_is_told_at_once_where_that_cannot_be_spoken() -> None:
    # PySocks is no dependency of ours.
    with pytest.raises(NoConfiguration, match="package PySocks is not installed"):
        on_the_way(HOSTS[0], "socks5://proxy.example:1080", None)
    kept = on_the_way(HOSTS[0], "socks5://proxy.example:1080", "api.example.com")
    assert kept is None, "it is not on the way"


@pytest.mark.parametrize(
    "proxy",
    [
        pytest.param("http://me:s3cret@proxy:99999", id="a port that is none"),
        pytest.param("http://me:s3cret@proxy:http", id="nor is a word"),
        pytest.param("http://me:s3/cret@proxy:3128", id="a password that ends the host"),
        pytest.param("http://me:s3cret@[::1:3128", id="half an address"),
        pytest.param("http://me:s3cret@:3128", id="no host"),
        pytest.param("http://me:s3cret@proxy%:3128", id="half an escape"),
        pytest.param(" http://me:s3cret@proxy:3128", id="a space before it"),
    ],
)
def test_what_urllib3_would_quote_with_its_password_is_refused_before(proxy: str) -> None:
    with pytest.raises(NoConfiguration, match="and go on with a host") as caught:
        on_the_way(HOSTS[0], proxy, None)
    assert "s3" not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"
