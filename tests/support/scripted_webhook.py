"""A webhook that answers by a script and remembers what it was sent: TLS, HTTP/1.1, one thread."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from certificates import HOST, Authority, SecretVolume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simulator_support import Wire

Object = dict[str, Any]
HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
NAME = "one.hooks.example"
SERVICE = ("evencore", "evencore-webhook")
assert f"{SERVICE[1]}.{SERVICE[0]}.svc" == HOST


@dataclass
class Raw:
    """An answer as bytes, for what a webhook may do wrong."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False  # close the connection instead of answering


@dataclass
class Sent:
    """A request as it came."""

    path: str
    headers: list[tuple[str, str]]
    review: Object
    connection: int  # the client's port: the same as long as the connection is


def response(request: Object, **more: object) -> Object:
    """Make a review that allows the request."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": request["uid"], "allowed": True, **more},
    }


def patch(*operations: Object) -> Object:
    """Make the two fields of a response that change an object."""
    encoded = base64.b64encode(json.dumps(list(operations)).encode()).decode()
    return {"patch": encoded, "patchType": "JSONPatch"}


def label(key: str, value: str = "1") -> Object:
    """Make a patch that sets labels to this one alone."""
    return patch({"op": "add", "path": "/metadata/labels", "value": {key: value}})


class ScriptedWebhook:
    """Answers by path, with what `answer` says; by default it allows."""

    def __init__(self, context: ssl.SSLContext, ca: str) -> None:
        self.ca = ca
        self.sent: list[Sent] = []
        self._answers: dict[str, deque[Callable[[Object], Object | Raw]]] = {}
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.port = self.http.server_address[1]
        self.release = threading.Event()

    def forget(self) -> None:
        """Start anew: nothing was sent, nothing is scripted."""
        self.sent.clear()
        self._answers.clear()

    def answer(self, path: str, *scripts: Callable[[Object], Object | Raw]) -> None:
        """Answer at this path with these, one after the other; the last one for ever."""
        self._answers[path] = deque(scripts)

    def says(self, path: str, **more: object) -> None:
        """Answer at this path with a review that has these fields."""
        self.answer(path, lambda request: response(request, **more))

    def paths(self) -> list[str]:
        """Tell which paths were asked, in order."""
        return [one.path.partition("?")[0] for one in self.sent]

    def config(self, path: str = "/mutate") -> Object:
        """Give the clientConfig for it."""
        namespace, name = SERVICE
        ca = base64.b64encode(self.ca.encode()).decode()
        return {"service": {"namespace": namespace, "name": name, "path": path}, "caBundle": ca}

    def _next(self, path: str, request: Object) -> Object | Raw:
        scripts = self._answers.get(path)
        if not scripts:
            return response(request)
        return (scripts.popleft() if len(scripts) > 1 else scripts[0])(request)

    def _handler(webhook) -> type[BaseHTTPRequestHandler]:  # noqa: N805  `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                review = json.loads(body)
                port = self.client_address[1]
                webhook.sent.append(Sent(self.path, self.headers.items(), review, port))
                said = webhook._next(self.path.partition("?")[0], review["request"])
                if not isinstance(said, Raw):
                    content = {"Content-Type": "application/json"}
                    said = Raw(200, json.dumps(said).encode(), content)
                if said.cut:
                    self.close_connection = True
                    return
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said.body)))
                self.end_headers()
                self.wfile.write(said.body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


@contextmanager
def scripted_webhook(directory: Path) -> Iterator[ScriptedWebhook]:
    """Run one for a block, with a certificate for the Service."""
    authority, volume = Authority(), SecretVolume(directory / "scripted-tls")
    volume.write(authority.issue())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(volume.certificate, volume.key)
    with webhook_with(context, authority.pem) as webhook:
        yield webhook


@contextmanager
def webhook_with(context: ssl.SSLContext, ca: str) -> Iterator[ScriptedWebhook]:
    """Run one for a block, with a certificate of your own."""
    webhook = ScriptedWebhook(context, ca)
    thread = threading.Thread(target=webhook.http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield webhook
    finally:
        webhook.release.set()
        webhook.http.shutdown()
        thread.join()
        webhook.http.server_close()


def hook(name: str, client_config: Object, **more: object) -> Object:
    """Make an entry of a configuration that asks about new pods."""
    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods"],
    }
    return {
        "name": name,
        "clientConfig": client_config,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


def configuration(*hooks: Object, name: str = "hooks") -> Object:
    """Make a configuration."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": list(hooks),
    }


def install(api: Wire, webhook: ScriptedWebhook, **more: object) -> None:
    """Have a webhook asked about new pods, or what `more` says."""
    api.post(HOOKS, configuration(hook(NAME, webhook.config(), **more)))
