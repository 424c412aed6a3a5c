"""Settings of gunicorn, and where its log goes."""

import logging
from pathlib import Path
from typing import Any

import pytest
from gunicorn.glogging import Logger

from webhook.asgi import Receive, Scope, Send
from webhook.gunicorn_conf import Served, Server, Serving, options
from webhook.gunicorn_log import StandardLogger
from webhook.tls import CertificateError
from webhook.worker import DrainingWorker

BIND = ("127.0.0.1:8443",)


async def nothing(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Stand for an application."""


def server(**changes: Any) -> Server:  # noqa: ANN401 - any field of Serving
    return Server(Serving(**{"bind": BIND, **changes}), lambda: Served(app=nothing))


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("bind", ["127.0.0.1:8443"]),
        ("workers", 1),
        ("worker_class", DrainingWorker),
        ("keepalive", 120),
        ("control_socket_disable", True),
        ("accesslog", None),
        ("logger_class", StandardLogger),
        ("http_parser", "python"),
        ("http_protocols", ["h1"]),
        ("http2_cleartext", "off"),
        ("preload_app", False),
        ("max_requests", 0),
        ("is_ssl", None),
    ],
)
def test_gunicorn_is_configured(name: str, want: object) -> None:
    assert getattr(server().cfg, name) == want


def test_idle_connections_outlive_the_api_servers_90_seconds() -> None:
    assert server().cfg.keepalive > 90


@pytest.mark.parametrize(("drain", "closing"), [(5.0, 5.0), (0.2, 0.3), (20.0, 7.5)])
def test_the_master_waits_longer_than_a_whole_stop(drain: float, closing: float) -> None:
    cfg = server(drain_seconds=drain, closing_seconds=closing).cfg
    assert cfg.graceful_timeout > drain + closing + 1


def test_the_default_stop_fits_into_the_default_grace_period() -> None:
    assert server().cfg.graceful_timeout < 30


def test_the_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--workers=7 --keep-alive=1")
    assert (server().cfg.workers, server().cfg.keepalive) == (1, 120)


def test_the_heartbeat_is_in_memory_where_that_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhook.gunicorn_conf.SHARED_MEMORY", tmp_path)
    assert options(Serving(bind=BIND))["worker_tmp_dir"] == str(tmp_path)
    monkeypatch.setattr("webhook.gunicorn_conf.SHARED_MEMORY", tmp_path / "missing")
    assert "worker_tmp_dir" not in options(Serving(bind=BIND))


def test_without_usable_certificate_there_is_no_context(tmp_path: Path) -> None:
    host = server(certificate=tmp_path / "tls.crt", key=tmp_path / "tls.key")
    with pytest.raises(CertificateError, match="cannot find"):
        host.cfg.ssl_context(host.cfg, None)


def test_the_application_is_built_when_gunicorn_asks() -> None:
    calls: list[str] = []

    def factory() -> Served:
        calls.append("built")
        return Served(
            app=nothing,
            draining=lambda: calls.append("draining"),
            stopped=lambda: calls.append("stopped"),
        )

    host = Server(Serving(bind=BIND), factory)
    host.draining()
    host.stopped()
    assert calls == []
    assert host.wsgi() is nothing
    assert host.wsgi() is nothing
    host.draining()
    host.stopped()
    assert calls == ["built", "draining", "stopped"]


def test_what_gunicorn_says_goes_where_all_else_goes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log = StandardLogger(server().cfg)
    log.debug("of interest to %s only", "its authors")
    log.info("Listening at: %s", "here")
    log.error("it failed", exc_info=OSError("no"))
    said = [(one.name, one.getMessage(), bool(one.exc_info)) for one in caplog.records]
    assert said == [
        ("gunicorn.error", "Listening at: here", False),
        ("gunicorn.error", "it failed", True),
    ]


def test_our_logger_has_what_gunicorn_may_ask_of_its_own() -> None:
    # These two are for its access log.
    asked = {name for name in vars(Logger) if not name.startswith("_")} - {"atoms", "now"}
    methods = {name for name in asked if callable(getattr(Logger, name))} - {"atoms_wrapper_class"}
    assert {"access", "exception", "setup"} < methods
    assert methods - set(dir(StandardLogger)) == set()
    assert not StandardLogger(server().cfg).access_log_enabled
