"""The keeper of the webhook's certificates as a part of the controller: it works where we lead.

Any number could work at once, but only who leads tells people, and writes where nobody else does.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from certs.aims import Aims
from certs.keeper import Clocks, Keeper
from evencore.kube.bundles import BundleStore
from evencore.kube.events import About
from evencore.kube.secrets import SecretStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.reporter import Reporter
    from evencore.kube.client import Client
    from evencore.settings import ControllerSettings

CERTIFICATES: Final = "certificates"  # about: nothing, there is one


def aims_of(settings: ControllerSettings) -> Aims:
    """Tell how certificates should be. Raises ValueError with every contradiction."""
    # By this name the API server calls a Service, and verifies.
    service = f"{settings.webhook_service}.{settings.namespace}.svc"
    return Aims(
        names=frozenset((service, *settings.cert_names)),
        authority_life=settings.ca_life,
        leaf_life=settings.cert_life,
        spread=settings.cert_spread,
        overlap=settings.cert_overlap,
    )


def make_keeper(
    client: Client,
    settings: ControllerSettings,
    allowed: Callable[[], bool],
    reporter: Reporter,
    now: Callable[[], datetime],
) -> Keeper:
    """Make the keeper; `allowed` is asked before each write."""

    def tell(uid: str, reason: str, message: str, *, warning: bool = False) -> None:
        about = About("v1", "Secret", settings.namespace, settings.cert_secret, uid)
        reporter.tell(about, reason, message, warning=warning)

    return Keeper(
        SecretStore(client, settings.namespace, settings.cert_secret, allowed=allowed),
        BundleStore(client, settings.webhook_configuration, allowed=allowed),
        aims_of(settings),
        tell,
        Clocks(now, time.monotonic),
    )
