"""Settings: flags over the environment over defaults, and every mistake told at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evencore.domain.written import keys
from evencore.flags import load
from evencore.settings import ControllerSettings, WebhookSettings


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVENCORE_BIND", "EVENCORE_WORKERS", "EVENCORE_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)


def test_a_flag_goes_before_the_environment_and_that_before_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVENCORE_WORKERS", "3")
    monkeypatch.setenv("EVENCORE_LOG_LEVEL", "debug")
    settings, _ = load(WebhookSettings, {"workers": "2", "log_level": None, "bind": ()})
    assert (settings.workers, settings.log_level, settings.bind) == (2, "debug", ("0.0.0.0:8443",))


ADDRESS = "must be ADDRESS:PORT, such as 0.0.0.0:8443 or [::]:8443"


@pytest.mark.parametrize("bind", ["0.0.0.0:8443", "[::]:8443", "localhost:1"])
def test_addresses(bind: str) -> None:
    settings, problems = load(WebhookSettings, {"bind": (bind,)})
    assert (settings.bind, problems) == ((bind,), [])


@pytest.mark.parametrize("bind", ["8443", "0.0.0.0:65536", "unix:/x", "::1:8443", ":8443"])
@pytest.mark.parametrize("process", [WebhookSettings, ControllerSettings])
def test_what_is_no_address_is_refused(
    bind: str, process: type[WebhookSettings | ControllerSettings]
) -> None:
    _, [problem] = load(process, {"bind": bind})
    assert problem.startswith(f"--bind (or EVENCORE_BIND): {ADDRESS}, not ")


def test_an_address_that_is_none_is_told_in_our_words() -> None:
    _, problems = load(ControllerSettings, {"bind": "here"})
    assert problems == [f"--bind (or EVENCORE_BIND): {ADDRESS}, not 'here'"]


def test_lists_are_separated_by_commas_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENCORE_BIND", "127.0.0.1:1, [::1]:2,")
    monkeypatch.setenv("EVENCORE_SNAPSHOT", "a.json,b.yaml")
    settings, _ = load(WebhookSettings, {})
    assert settings.bind == ("127.0.0.1:1", "[::1]:2")
    assert settings.snapshot == (Path("a.json"), Path("b.yaml"))


WRONG = {
    "a number that is no number": (
        {"workers": "many"},
        ["--workers (or EVENCORE_WORKERS): must be a whole number from 1 to 64, not 'many'"],
    ),
    "a number that is too small": (
        {"workers": "0"},
        ["--workers (or EVENCORE_WORKERS): must be a whole number from 1 to 64, not '0'"],
    ),
    "bytes that are no text, with which no line of a log can be written": (
        {"namespace": "a\udcff", "bind": ("a\udcff:1",), "kubeconfig": "\udcff"},
        [
            rf"--{name} (or EVENCORE_{name.upper()}): must be text in UTF-8"
            for name in ("namespace", "bind", "kubeconfig")
        ],
    ),
    "a word that is not allowed names those that are": (
        {"log_level": "loud"},
        ["--log-level (or EVENCORE_LOG_LEVEL): must be 'debug', 'info', 'warning' or 'error'"],
    ),
    "a certificate without a key": (
        {"tls_cert": "tls.crt"},
        ["--tls-cert and --tls-key: give both"],
    ),
    "a Secret and files": (
        {"tls_cert": "a", "tls_key": "b", "cert_secret": "s"},
        ["--cert-secret: give it or --tls-cert and --tls-key"],
    ),
    "a Secret and dumps": (
        {"snapshot": ("a.json",), "cert_secret": "s", "cert_directory": "d"},
        ["--cert-secret is read from a cluster, --snapshot answers without one"],
    ),
    "a directory for nothing": (
        {"cert_directory": "/tls"},
        ["--cert-directory is for what is read from --cert-secret"],
    ),
    "dumps and a cluster": (
        {"snapshot": ("a.json",), "context": "prod"},
        ["--snapshot answers without a cluster"],
    ),
    "nothing to listen on": (
        {"bind": ","},
        ["--bind (or EVENCORE_BIND): must be at least one ADDRESS:PORT, not ','"],
    ),
    "mistakes of one setting, and of several together": (
        {
            "bind": ("foo",),
            "tls_cert": "tls.crt",
            "workers": "x",
            "snapshot": ("a.json",),
            "context": "prod",
            "cert_directory": "d",
        },
        [
            "--bind (or EVENCORE_BIND): must be ADDRESS:PORT",
            "--tls-cert and --tls-key: give both",
            "--workers",
            "--snapshot answers without a cluster",
            "--cert-directory is for",
        ],
    ),
    "several mistakes": (
        {"workers": "x", "drain_seconds": "-1"},
        [
            "--workers",
            "--drain-seconds (or EVENCORE_DRAIN_SECONDS): must be a number from 0 to 3600",
        ],
    ),
    "seconds that are no number to reckon with": (
        {"drain_seconds": "nan", "closing_seconds": "inf"},
        ["--drain-seconds (or", "--closing-seconds (or"],
    ),
    "a certificate from everywhere": (
        {"tls_cert": "a", "tls_key": "b", "cert_secret": "s", "snapshot": ("a.json",)},
        ["give it or --tls-cert and --tls-key", "--snapshot answers without one"],
    ),
}


@pytest.mark.parametrize(("flags", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_setting_is_named_with_what_is_allowed(
    flags: dict[str, object], words: list[str]
) -> None:
    _, problems = load(WebhookSettings, flags)
    assert [word for word in words if word not in "\n".join(problems)] == []


def test_what_is_right_is_kept_to_look_for_more_that_is_wrong() -> None:
    flags = {"workers": "x", "tls_cert": "a", "policy": "p.yaml", "cert_directory": "d"}
    settings, problems = load(WebhookSettings, flags)
    assert (settings, len(problems)) == (WebhookSettings(policy=Path("p.yaml")), 3)


def test_what_holds_is_told_as_people_would_write_it() -> None:
    flags = {"policy": "p.yaml", "ca_life": "48h", "cert_names": ("a", "b"), "workers": "2"}
    settings, _ = load(ControllerSettings, {**flags, "identity": "me"})
    told = settings.as_written()
    wanted = {"policy": "p.yaml", "ca_life": "172800s", "cert_names": ["a", "b"], "workers": 2}
    assert wanted.items() <= told.items()
    assert list(told) == list(keys(ControllerSettings))
    assert load(ControllerSettings, json.loads(json.dumps(told))) == (settings, [])


def test_each_controller_has_a_name_of_its_own() -> None:
    assert ControllerSettings().identity != ControllerSettings().identity


@pytest.mark.parametrize("name", ["EVENCORE_WORKER", "evencore_workers"])
def test_an_unknown_variable_is_an_error_beside_the_others(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "2")
    _, [first, second] = load(WebhookSettings, {"workers": "x"})
    assert first.startswith(f"{name}: unknown; known: EVENCORE_BIND, ")
    assert second.startswith("--workers")


def test_variables_that_a_kubelet_sets_for_a_service_of_our_name_are_none_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    links = {
        "EVENCORE_SERVICE_HOST": "10.0.0.1",
        "EVENCORE_SERVICE_PORT": "443",
        "EVENCORE_SERVICE_PORT_HTTPS": "443",
        "EVENCORE_PORT": "tcp://10.0.0.1:443",
        "EVENCORE_PORT_443_TCP": "tcp://10.0.0.1:443",
        "EVENCORE_PORT_443_TCP_PROTO": "tcp",
        "EVENCORE_WEBHOOK_SERVICE_HOST": "10.0.0.2",
        "EVENCORE_WEBHOOK_PORT_443_TCP_ADDR": "10.0.0.2",
    }
    for name, value in links.items():
        monkeypatch.setenv(name, value)
    assert load(WebhookSettings, {}) == (WebhookSettings(), [])
