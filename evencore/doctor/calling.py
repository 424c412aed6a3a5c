"""Is the webhook really called: a trial, the way to it, its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.doctor.finding import Finding, Severity
from evencore.doctor.world import Call, Shake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.doctor.world import Placed, World

_RENEWAL_LATE: Final = 0.75
"""Of its life a certificate should never see this much: it is renewed at two thirds."""

_IDS: Final = {
    Shake.UNTRUSTED: "cabundle-mismatch",
    Shake.EXPIRED: "certificate-expired",
    Shake.OTHER_NAME: "certificate-name",
}
_WORDS: Final = {
    Shake.UNTRUSTED: "what is served there was not signed by the caBundle",
    Shake.EXPIRED: "the certificate that is served there has expired",
    Shake.OTHER_NAME: "the certificate that is served there is for another name",
}


def trial(world: World) -> Iterator[Finding]:
    """Ask the API server for a pod, and look whether it comes back changed."""
    found = world.trial
    if found is None:
        return  # nobody calls us, or nowhere: that is told already
    where = f"namespace {found.namespace}"
    logs = f"kubectl -n {world.own_namespace} logs -l app.kubernetes.io/name=evencore --tail=50"
    if found.call is Call.UNCHANGED:
        yield Finding(
            "webhook-not-called",
            Severity.ERROR,
            where,
            "a Guaranteed pod of 2500m came back unchanged (dry run): the API server does not "
            "call evencore, or gets no answer from it, and failurePolicy Ignore hides that; is "
            "there a firewall between the control plane and the webhook's port?",
            logs,
        )
    elif found.call is Call.FAILED:
        yield Finding(
            "webhook-call-fails",
            Severity.ERROR,
            where,
            f"no pod can be created: {found.text}",
            logs,
        )
    elif found.call is Call.UNKNOWN:
        yield Finding(
            "webhook-called",
            Severity.UNKNOWN,
            where,
            f"whether evencore is called cannot be tried (dry run of a pod): {found.text}",
            f"kubectl auth can-i create pods -n {found.namespace}",
        )


def bundles(world: World) -> Iterator[Finding]:
    """Find a Service without a caBundle: no public authority signs for names in a cluster."""
    for one in world.hooks:
        config = one.hook.client_config
        if config and config.service and not config.ca_bundle:
            yield Finding(
                "cabundle-missing",
                Severity.ERROR,
                one.object,
                f"webhook {one.hook.name} has no caBundle: no call can succeed",
                _restart(world, "controller"),
            )


def handshakes(world: World) -> Iterator[Finding]:
    """Shake hands as the API server does, with the same bundle."""
    for one in world.hooks:
        found = world.handshakes.get(one.hook.name)
        if found is None:
            continue
        if found.shake in _IDS:
            yield Finding(
                _IDS[found.shake],
                Severity.ERROR,
                one.object,
                f"webhook {one.hook.name} at {found.where}: {_WORDS[found.shake]} ({found.text})",
                _restart(world, "webhook"),
            )
        elif found.shake is Shake.UNREACHABLE and not world.called:
            yield Finding(
                "webhook-unreachable",
                Severity.WARNING,
                one.object,
                f"webhook {one.hook.name} cannot be reached from here at {found.where}: "
                f"{found.text}",
                f"kubectl -n {world.own_namespace} get pods,services",
            )


def renewal(world: World) -> Iterator[Finding]:
    """Find a certificate that should have been renewed."""
    for one in world.hooks:
        found = world.handshakes.get(one.hook.name)
        if found is None or found.not_before is None or found.not_after is None:
            continue
        life = found.not_after - found.not_before
        left = found.not_after - world.now
        if found.shake is Shake.GOOD and world.now - found.not_before > life * _RENEWAL_LATE:
            due = found.not_before + life * 2 / 3
            yield Finding(
                "certificate-expiring",
                Severity.WARNING,
                one.object,
                f"the certificate of webhook {one.hook.name} expires in {left.days} d "
                f"{left.seconds // 3600} h ({found.not_after:%Y-%m-%d %H:%MZ}) and should have "
                f"been renewed on {due:%Y-%m-%d}",
                _restart(world, "controller"),
            )


def endpoints(world: World) -> Iterator[Finding]:
    """Find a Service that nobody is behind."""
    for one in world.hooks:
        place = service_of(one)
        # What was called is there, whatever the lists say.
        if place and world.ready.get(place) == 0 and not world.called:
            namespace, _, name = place.partition("/")
            yield Finding(
                "endpoints-missing",
                Severity.ERROR,
                f"Service {place}",
                f"no ready pod is behind Service {name}: the API server cannot call evencore",
                f"kubectl -n {namespace} get pods,endpointslices",
            )


def service_of(one: Placed) -> str | None:
    """Return namespace/name of the Service of a webhook; None if it has a URL."""
    config = one.hook.client_config
    service = config.service if config else None
    return f"{service.namespace}/{service.name}" if service else None


def _restart(world: World, which: str) -> str:
    return f"kubectl -n {world.own_namespace} rollout restart deployment evencore-{which}"
