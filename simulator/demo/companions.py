"""The real webhook and the real controller of evencore, as processes beside a pocket cluster.

For: starting them as an admin does, knowing when they work, ending them whatever happens.
Not for: what they do; nothing of them is imported here.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import os
import re
import signal
import ssl
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator import tls

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator, Mapping

    from simulator.demo.worlds import World
    from simulator.objects import Object

_EVENCORE: Final = str(Path(sys.executable).with_name("evencore"))
_NAMESPACE: Final = "evencore-system"
_TAKES_PART: Final = MappingProxyType({"evencore.io/admission": "enabled"})
_LARGEST: Final = "evencore.io/max-container-cpus"
_START_S: Final = 30.0
_STOP_S: Final = 5.0
_TURN_S: Final = 0.05
_TAIL: Final = 10
"""Lines of a log that may say why."""
_LISTENING: Final = re.compile(r"Listening at: https://127\.0\.0\.1:(\d+)")


class DemoError(Exception):
    """The demo cannot go on; the message says why, and shows the log of who is to blame."""


class Interrupted(Exception):  # noqa: N818  no error: somebody wants to go home
    """The demo was asked to end."""


class Companion:
    """One process with its log. The kernel chooses its ports."""

    def __init__(self, folder: Path, command: str, *flags: str) -> None:
        self._name, self._log = f"evencore {command}", folder / f"{command}.log"
        # Nobody's own settings of evencore are meant for this one.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EVENCORE_")}
        arguments = [
            _EVENCORE, command, "--bind", "127.0.0.1:0", "--log-format", "json",
            "--kubeconfig", str(folder / "kubeconfig"), "--namespace", _NAMESPACE, *flags,
        ]  # fmt: skip
        with self._log.open("wb") as log:
            # In a session of its own: Ctrl-C reaches us alone, and we end them in order.
            self._process = subprocess.Popen(  # noqa: S603  our own command
                arguments, stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def log(self) -> str:
        """Return what it has said."""
        return self._log.read_text(errors="replace")

    def tail(self) -> str:
        """Return what it has said last."""
        return "\n".join((f"{self._name}:", *self.log().splitlines()[-_TAIL:]))

    def check(self) -> None:
        """Raise DemoError if it has ended."""
        if (code := self._process.poll()) is not None:
            raise DemoError(f"a process ended with exit code {code}. {self.tail()}")

    def stop(self) -> None:
        """End it orderly, or else at once; and whatever it has started."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Companions:
    """Both, at work for one cluster."""

    def __init__(self, webhook: Companion, controller: Companion) -> None:
        self._webhook, self._controller = webhook, controller

    def check(self) -> None:
        """Raise DemoError if one of them has ended."""
        self._webhook.check()
        self._controller.check()


@contextlib.contextmanager
def companions(
    world: World, namespaces: Iterable[str], folder: Path, stop: threading.Event
) -> Iterator[Companions]:
    """Start both, and let these namespaces take part; they end with the block.

    It begins when the webhook is ready and the controller has labelled the nodes. `folder` is for
    their files. Raises DemoError, and Interrupted when `stop` is set.
    """
    issued = tls.issue()
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_text(issued.certificate)
    key.touch(mode=0o600)
    key.write_text(issued.key)
    (folder / "kubeconfig").write_text(world.server.kubeconfig())
    world.make(_namespace(_NAMESPACE))
    with contextlib.ExitStack() as stack:
        webhook = Companion(
            folder, "webhook", "--tls-cert", str(certificate), "--tls-key", str(key),
            "--drain-seconds", "0", "--closing-seconds", "0",
        )  # fmt: skip
        stack.callback(webhook.stop)
        controller = Companion(folder, "controller", "--certs", "external")
        stack.callback(controller.stop)
        both = Companions(webhook, controller)
        deadline = time.monotonic() + _START_S
        while not (port := _ready_at(webhook, issued.ca)) or not world.labelled(_LARGEST):
            both.check()
            if stop.wait(_TURN_S):
                raise Interrupted
            if time.monotonic() > deadline:
                raise DemoError(
                    f"evencore is not ready after {_START_S:.0f} s. "
                    f"{webhook.tail()}\n{controller.tail()}"
                )
        url = f"https://127.0.0.1:{port}/mutate"
        world.make(configuration("evencore", url, issued.ca), *map(_taking_part, namespaces))
        yield both


def _ready_at(webhook: Companion, ca: str) -> int:
    """Return the port where the webhook says that it is ready, 0 while it does not."""
    found = _LISTENING.search(webhook.log())
    if found is None:
        return 0
    context = ssl.create_default_context(cadata=ca)
    connection = http.client.HTTPSConnection(
        "127.0.0.1", int(found[1]), timeout=_STOP_S, context=context
    )
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/readyz")
        return int(found[1]) if connection.getresponse().status == HTTPStatus.OK else 0
    return 0


def _namespace(name: str, **labels: str) -> Object:
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _taking_part(namespace: str) -> Object:
    return _namespace(namespace, **_TAKES_PART)


def configuration(name: str, url: str, ca: str, labels: Mapping[str, str] = _TAKES_PART) -> Object:
    """Have the API server call a webhook at `url` for new pods of namespaces with these labels."""
    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods"],
    }
    hook = {
        "name": "pods.evencore.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "IfNeeded",
        "timeoutSeconds": 3,
        "clientConfig": {"url": url, "caBundle": base64.b64encode(ca.encode()).decode()},
        "namespaceSelector": {"matchLabels": dict(labels)},
        "rules": [rule],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [hook],
    }
