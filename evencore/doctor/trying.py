"""What to try out once the cluster is known, and what the answers come to. Pure."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from evencore.doctor.world import Call, Shake, Trial
from evencore.domain import names
from evencore.domain.objects import map_at

if TYPE_CHECKING:
    from evencore.doctor.views import Hook
    from evencore.doctor.world import World

_MOST_TRIALS: Final = 3
"""Namespaces in which a trial is made: a quota or somebody's policy may refuse it in one."""


class Address(NamedTuple):
    """Where a webhook is, as the API server sees it."""

    host: str
    port: int
    bundle: str | None  # PEM

    @property
    def text(self) -> str:
        """Write it."""
        return f"{self.host}:{self.port}"


def trial_namespaces(world: World) -> list[str]:
    """Return where a pod may be created for trial; nowhere if it is known that nobody calls us."""
    if not world.hooks:
        return []
    called = [
        name
        for name in world.participants
        if any(
            one.hook.namespace_selector is None
            or one.hook.namespace_selector.matches(world.namespaces[name])
            for one in world.hooks
        )
    ]
    return called[:_MOST_TRIALS]


def trial_of(namespace: str, pod: object, text: str, *, failed: bool) -> Trial:
    """Judge the answer to a pod that was created for trial; None = there was none."""
    if pod is None:
        return Trial(namespace, Call.FAILED if failed else Call.UNKNOWN, text)
    annotations = map_at(map_at(pod, "metadata"), "annotations")
    ours = names.ORIGINAL_CPU in annotations
    return Trial(namespace, Call.CHANGED if ours else Call.UNCHANGED)


def address_of(hook: Hook) -> Address | None:
    """Return where to shake hands; None if the configuration does not say."""
    config = hook.client_config
    if config is None:
        return None
    bundle = _pem(config.ca_bundle)
    if config.url:
        try:
            url = urlsplit(config.url)
            return Address(url.hostname or "", url.port or 443, bundle)
        except ValueError:
            return None
    service = config.service
    if service is None or bundle is None:
        return None
    port = service.port if type(service.port) is int else 443
    return Address(f"{service.name}.{service.namespace}.svc", port, bundle)


def _pem(bundle: str | None) -> str | None:
    """Decode a caBundle; rubbish comes out as something that no certificate matches."""
    if not bundle:
        return None
    try:
        return base64.b64decode(bundle, validate=True).decode("ascii", "replace") or "nothing"
    except (binascii.Error, ValueError):
        return "this is not base64"


SHAKES: Final = {
    "": Shake.GOOD,
    "untrusted": Shake.UNTRUSTED,
    "expired": Shake.EXPIRED,
    "other name": Shake.OTHER_NAME,
}
