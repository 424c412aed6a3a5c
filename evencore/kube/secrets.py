"""One Secret: read as bytes, made if there is none, changed if it is still as it was read.

For: the keeper of certificates, and webhooks that only read (it fulfils `certs.ports` by shape).
Not for: what is in it. Its bytes are never logged, nor are answers that may quote them.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

import msgspec

from evencore.kube import errors
from evencore.kube.outcome import Conflict, Gone, outcome_of
from evencore.kube.writer import JSON_PATCH, MERGE_PATCH, NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evencore.kube.client import Client

_TLS: Final = "kubernetes.io/tls"
_CERT_MANAGER: Final = "cert-manager.io/"
_NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})
_MANAGED: Final = (("fieldManager", NAME),)


class Secret(NamedTuple):
    """A Secret as it was read; `problem`: why it could not be."""

    problem: str = ""
    uid: str = ""  # empty: there is none
    version: str = ""
    data: Mapping[str, bytes] = _NOTHING
    manager: str = ""


class Answer(NamedTuple):
    """What became of a write; no problem: it was done."""

    problem: str = ""
    raced: bool = False


class SecretStore:
    """Reads and writes the Secret `name`. `allowed` is asked before each write."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        name: str,
        *,
        allowed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._client = client
        self._namespace, self._name = namespace, name
        self._collection = f"/api/v1/namespaces/{quote(namespace, '')}/secrets"
        self._path = f"{self._collection}/{quote(name, '')}"
        self._allowed = allowed

    def read(self) -> Secret:
        """Read it; a Secret that is being deleted is as good as gone."""
        try:
            reply = self._client.get(self._path)
            try:
                found = msgspec.json.decode(reply.read(), type=_Secret)
            finally:
                reply.close()
        except errors.NotFound:
            return Secret()
        except errors.KubeError as error:
            return Secret(problem=str(error))
        except (msgspec.DecodeError, UnicodeDecodeError):
            # The error would quote what it stumbled over.
            return Secret(problem=f"GET {self._path} was answered with something that is no Secret")
        meta = found.metadata
        return Secret("", meta.uid, meta.resource_version, _decoded(found.data), _manager(meta))

    def create(self, data: Mapping[str, bytes]) -> Answer:
        """Make it; raced: there is one already (409), which is to be read."""
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": _TLS,
            "metadata": {
                "name": self._name,
                "namespace": self._namespace,
                "labels": {"app.kubernetes.io/managed-by": "evencore"},
            },
            "data": _encoded(data),
        }
        return written(self._client, "POST", self._collection, body, self._allowed)

    def update(self, uid: str, version: str, data: Mapping[str, bytes]) -> Answer:
        """Set these keys, and leave other keys, labels and the type as they are."""
        meta = {"uid": uid, "resourceVersion": version}
        body = {"metadata": meta, "data": _encoded(data)}
        return written(self._client, "PATCH", self._path, body, self._allowed, MERGE_PATCH)


def written(  # noqa: PLR0913, PLR0917  what a request is made of
    client: Client,
    verb: str,
    path: str,
    body: object,
    allowed: Callable[[], bool],
    content_type: str = "application/json",
) -> Answer:
    """Send a write that may come twice, and tell what became of it."""
    if not allowed():
        return Answer("not sent: this process is not the leader")
    try:
        client.write(verb, path, body, _MANAGED, content_type=content_type)
    except errors.KubeError as error:
        outcome = outcome_of(error, tests=content_type == JSON_PATCH)
        # A POST that finds nothing has no namespace to go to, and will not find one by haste.
        gone = isinstance(outcome, Gone) and verb != "POST"
        return Answer(outcome.why, raced=gone or isinstance(outcome, Conflict))
    return Answer()


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Secret(msgspec.Struct):
    metadata: _Metadata
    data: dict[str, str | None] | None = None


def _manager(meta: _Metadata) -> str:
    """Say who else looks after it, by the annotations that they put on."""
    if any(key.startswith(_CERT_MANAGER) for key in meta.annotations or ()):
        return "cert-manager"
    return ""


def _decoded(data: Mapping[str, str | None] | None) -> dict[str, bytes]:
    found = {}
    for key, text in (data or {}).items():
        try:
            found[key] = b64decode(text or "", validate=True)
        except (binascii.Error, ValueError):  # no API server has taken it; some stand-in did
            found[key] = b""
    return found


def _encoded(data: Mapping[str, bytes]) -> dict[str, str]:
    return {key: b64encode(value).decode() for key, value in data.items()}
