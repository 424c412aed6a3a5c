"""caBundle of our webhook configuration: the one field in it that is ours.

For: reading whom its hooks trust, and setting that field alone by JSON patch, hook by hook, under
the version that was read (it fulfils `certs.ports` by shape).
Not for: anything else in the object. Selectors belong to its manifests and to the platform: managed
clusters add their own entries, and two who write whole objects never agree.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from evencore.kube import errors
from evencore.kube.secrets import Answer, written
from evencore.kube.writer import JSON_PATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evencore.kube.client import Client

_COLLECTION: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_INJECTORS: Final = (
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
)
_UNREADABLE: Final = b"no base64"


class Entry(NamedTuple):
    """One hook."""

    name: str
    ca_bundle: bytes
    selector: str


class Hooks(NamedTuple):
    """The configuration as it was read; `problem`: why it could not be."""

    problem: str = ""
    uid: str = ""  # empty: there is none
    version: str = ""
    injector: str = ""
    entries: Sequence[Entry] = ()


class BundleStore:
    """Reads and writes the configuration `name`. `allowed` is asked before each write."""

    def __init__(
        self, client: Client, name: str, *, allowed: Callable[[], bool] = lambda: True
    ) -> None:
        self._client = client
        self._path = f"{_COLLECTION}/{quote(name, '')}"
        self._allowed = allowed

    def read(self) -> Hooks:
        """Read it."""
        try:
            reply = self._client.get(self._path)
            try:
                found = msgspec.json.decode(reply.read(), type=_Configuration)
            finally:
                reply.close()
        except errors.NotFound:
            return Hooks()
        except errors.KubeError as error:
            return Hooks(problem=str(error))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            said = errors.shortened(str(error))
            return Hooks(problem=f"{self._path} is no webhook configuration: {said}")
        meta = found.metadata
        annotations = meta.annotations or {}
        return Hooks(
            "",
            meta.uid,
            meta.resource_version,
            next((key for key in _INJECTORS if annotations.get(key)), ""),
            tuple(map(_entry, found.webhooks or ())),
        )

    def write(self, found: Any, hooks: frozenset[str], bundle: bytes) -> Answer:  # noqa: ANN401  what `read` gave, by any name
        """Set caBundle of these hooks; raced: the object is not as it was read."""
        encoded = b64encode(bundle).decode()
        # The version names this very state of the object, so places mean the hooks that were read.
        body: list[dict[str, object]] = [
            {"op": "test", "path": "/metadata/uid", "value": found.uid},
            {"op": "test", "path": "/metadata/resourceVersion", "value": found.version},
        ]
        for place, entry in enumerate(found.entries):
            if entry.name in hooks:
                at = f"/webhooks/{place}"
                body += [
                    {"op": "test", "path": f"{at}/name", "value": entry.name},
                    {"op": "add", "path": f"{at}/clientConfig/caBundle", "value": encoded},
                ]
        return written(self._client, "PATCH", self._path, body, self._allowed, JSON_PATCH)


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _ClientConfig(msgspec.Struct):
    bundle: str | None = msgspec.field(default=None, name="caBundle")


class _Requirement(msgspec.Struct):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class _Selector(msgspec.Struct, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_Requirement] | None = None


class _Webhook(msgspec.Struct, rename="camel"):
    name: str = ""
    client_config: _ClientConfig | None = None
    namespace_selector: _Selector | None = None


class _Configuration(msgspec.Struct):
    metadata: _Metadata
    webhooks: list[_Webhook] | None = None


def _entry(hook: _Webhook) -> Entry:
    text = (hook.client_config.bundle if hook.client_config else None) or ""
    try:
        bundle = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        bundle = _UNREADABLE
    return Entry(hook.name, bundle, _written(hook.namespace_selector or _Selector()))


def _written(selector: _Selector) -> str:
    """Write a selector as kubectl takes it; an empty one selects everything."""
    parts = [f"{key}={value}" for key, value in (selector.match_labels or {}).items()]
    for one in selector.match_expressions or ():
        words: Mapping[str, str] = {
            "In": f"{one.key} in ({', '.join(one.values or ())})",
            "NotIn": f"{one.key} notin ({', '.join(one.values or ())})",
            "Exists": one.key,
            "DoesNotExist": f"!{one.key}",
        }
        parts.append(words.get(one.operator, f"{one.key} {one.operator}"))
    return ", ".join(parts) or "all namespaces"
