"""Where the API server is: what wins, and what is said if nothing does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from evencore.kube.configuration import load
from evencore.kube.errors import NoConfiguration

if TYPE_CHECKING:
    from collections.abc import Callable

IN_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def _kubeconfig(path: Path, server: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "current-context": "one",
        "clusters": [
            {"name": "one", "cluster": {"server": f"http://{server}"}},
            {"name": "two", "cluster": {"server": f"http://{server}-two"}},
        ],
        "users": [{"name": "me", "user": {"token": "t"}}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": "me"}} for name in ("one", "two")
        ],
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """Make what a kubelet mounts into a pod."""
    mounted = tmp_path / "serviceaccount"
    mounted.mkdir()
    (mounted / "token").write_text("a-token\n")
    (mounted / "ca.crt").write_text("a certificate")
    return mounted


def test_the_first_of_path_variable_pod_and_home_wins(tmp_path: Path, account: Path) -> None:
    given = _kubeconfig(tmp_path / "given", "given")
    variable = _kubeconfig(tmp_path / "variable", "variable")
    home = tmp_path / "home"
    _kubeconfig(home / ".kube" / "config", "home")
    environ = {**IN_POD, "KUBECONFIG": variable, "HOME": str(home)}

    assert load(given, environ=environ, account=account).host == "http://given"
    assert load(environ=environ, account=account).host == "http://variable"
    del environ["KUBECONFIG"]
    assert load(environ=environ, account=account).host == "https://10.0.0.1:443"
    assert load(environ={"HOME": str(home)}, account=account).host == "http://home"


def test_a_context_is_meant_for_a_kubeconfig_also_within_a_pod(
    tmp_path: Path, account: Path
) -> None:
    _kubeconfig(tmp_path / ".kube" / "config", "home")
    environ = {**IN_POD, "HOME": str(tmp_path)}
    assert load(context="two", environ=environ, account=account).host == "http://home-two"


def test_several_files_are_merged_and_missing_ones_passed_over(tmp_path: Path) -> None:
    paths = f"{tmp_path / 'missing'}:{_kubeconfig(tmp_path / 'there', 'there')}"
    assert load(environ={"KUBECONFIG": paths}).host == "http://there"


def test_nothing_at_all_names_everything_that_was_tried(tmp_path: Path) -> None:
    with pytest.raises(NoConfiguration) as caught:
        load(environ={"HOME": str(tmp_path)}, account=tmp_path)
    text = str(caught.value)
    for named in (
        "the given path (not set)",
        "KUBECONFIG (not set)",
        "in-cluster (KUBERNETES_SERVICE_HOST is not set)",
        f"{tmp_path}/.kube/config (does not exist)",
        "set KUBECONFIG, or run in a pod",
    ):
        assert named in text


def test_a_pod_without_its_token_says_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(NoConfiguration, match=r"in-cluster \(.*/token does not exist\)"):
        load(environ={**IN_POD, "HOME": str(tmp_path)}, account=tmp_path)


@pytest.mark.parametrize("by", ["path", "variable"])
def test_a_file_that_was_named_and_is_missing_is_an_error_not_a_reason_to_look_elsewhere(
    tmp_path: Path, account: Path, by: str
) -> None:
    missing = str(tmp_path / "missing")
    environ = {**IN_POD, **({"KUBECONFIG": missing} if by == "variable" else {})}
    with pytest.raises(NoConfiguration, match="does not exist: correct or unset it"):
        load(missing if by == "path" else None, environ=environ, account=account)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("[", id="no YAML"),
        pytest.param("[]", id="a list"),
        pytest.param("text", id="text"),
        pytest.param("{}", id="an empty object"),
        pytest.param("current-context: one", id="a context that is not there"),
        pytest.param("clusters: 5\ncontexts: 6\nusers: 7", id="numbers"),
        pytest.param("contexts: [{name: a, context: null}]\ncurrent-context: a", id="nulls"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd"
    path.write_text(content)
    with pytest.raises(NoConfiguration, match=f"kubeconfig {path} cannot be used"):
        load(str(path))


def test_a_context_that_does_not_exist_is_named(tmp_path: Path) -> None:
    path = _kubeconfig(tmp_path / "config", "there")
    with pytest.raises(NoConfiguration, match="context nope cannot be used"):
        load(path, "nope")


def test_a_broken_user_entry_is_not_quoted_with_its_token(tmp_path: Path) -> None:
    path = tmp_path / "config"
    content = yaml.safe_load(_read(_kubeconfig(path, "there")))
    # the mistake of indenting: `token` beside `user`, not within
    content["users"] = [{"name": "me", "token": "s3cret"}]
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(NoConfiguration) as caught:
        load(str(path))
    error: BaseException | None = caught.value
    while error is not None:
        assert "s3cret" not in str(error)
        error = error.__cause__


def _read(path: str) -> str:
    with open(path) as file:  # noqa: PTH123  one line
        return file.read()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Set a proxy in the environment; returns how to take it away."""
    for name in ("no_proxy", "NO_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    return lambda: monkeypatch.delenv("https_proxy")


def test_in_a_pod_a_proxy_is_looked_for_once(account: Path, proxy: Callable[[], None]) -> None:
    found = load(environ=IN_POD, account=account)
    proxy()
    assert found.proxy == "http://proxy.example:3128"


def test_with_a_kubeconfig_a_proxy_is_looked_for_once_and_not_before_each_request(
    tmp_path: Path, proxy: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(_kubeconfig(tmp_path / "config", "there"))
    path.write_text(path.read_text().replace("http://", "https://"))
    found = load(str(path))
    assert found.proxy == "http://proxy.example:3128"
    proxy()
    monkeypatch.setattr("kubernetes.client.configuration.getproxies", pytest.fail)
    assert found.authorization() == "Bearer t"  # as before each request


@pytest.mark.parametrize("proxy_url", ["proxy.example:3128", "ftp://me:s3cret@there", 5, ["a"]])
def test_a_proxy_that_is_no_address_is_told_with_what_would_be_one_and_not_quoted(
    tmp_path: Path, proxy_url: object
) -> None:
    path = Path(_kubeconfig(tmp_path / "config", "there"))
    content = yaml.safe_load(path.read_text())
    content["clusters"][0]["cluster"]["proxy-url"] = proxy_url
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(
        NoConfiguration, match=r"must begin with one of http://, https://"
    ) as caught:
        load(str(path))
    assert "s3cret" not in str(caught.value)


def test_the_account_is_looked_for_where_the_module_says_at_the_time(
    account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evencore.kube.configuration.SERVICE_ACCOUNT", account)
    assert load(environ=IN_POD).ca_file == str(account / "ca.crt")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("10.0.0.1", "https://10.0.0.1:443"),
        ("fd00::1", "https://[fd00::1]:443"),
        ("fe80::1%eth0", "https://[fe80::1%eth0]:443"),
        ("kubernetes.default.svc", "https://kubernetes.default.svc:443"),
    ],
)
def test_an_address_of_either_family_makes_a_url(account: Path, host: str, url: str) -> None:
    assert load(environ={**IN_POD, "KUBERNETES_SERVICE_HOST": host}, account=account).host == url


@pytest.mark.parametrize("file", ["token", "ca.crt"])
@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe"])
def test_a_file_of_the_account_that_says_nothing_is_named(
    account: Path, file: str, content: bytes
) -> None:
    (account / file).write_bytes(content)
    with pytest.raises(NoConfiguration, match=rf"cannot be used: \S+/{file} is no text"):
        load(environ=IN_POD, account=account)


def test_what_is_found_shows_no_token_when_it_is_printed(tmp_path: Path, account: Path) -> None:
    (account / "token").write_text("s3cret")
    path = Path(_kubeconfig(tmp_path / "config", "there"))
    path.write_text(path.read_text().replace("token: t", "token: s3cret"))
    for found in (load(environ=IN_POD, account=account), load(str(path))):
        assert found.authorization() == "Bearer s3cret"
        assert "s3cret" not in repr(found)
