"""The webhook configuration: is it there, and does it say what it must."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.doctor.finding import Finding, Severity
from evencore.doctor.views import LabelSelector
from evencore.domain import names
from evencore.domain.text import count, one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.doctor.views import Hook
    from evencore.doctor.world import Placed, World

_EVERYTHING: Final = LabelSelector()
_SYSTEM: Final = "kube-system"


def missing(world: World) -> Iterator[Finding]:
    """Find that nobody calls us."""
    if not world.hooks:
        yield Finding(
            "webhook-config-missing",
            Severity.ERROR,
            "MutatingWebhookConfiguration",
            "no webhook configuration calls evencore: all pods are created unchanged",
            "kubectl apply -k deploy/base",
        )


def rules(world: World) -> Iterator[Finding]:
    """Find that we are called, but not for new pods; or not again after others changed the pod."""
    if world.hooks and not any(_asks_for_pods(one.hook) for one in world.hooks):
        (first, *_) = world.hooks
        yield Finding(
            "webhook-rules",
            Severity.ERROR,
            first.object,
            f"the rules of webhook {first.hook.name} do not name CREATE of pods",
            _edit(first),
        )
    for one in world.hooks:
        if one.hook.reinvocation_policy not in (None, "IfNeeded"):
            yield Finding(
                "webhook-reinvocation",
                Severity.WARNING,
                one.object,
                f"reinvocationPolicy of webhook {one.hook.name} is "
                f"{one.hook.reinvocation_policy}: containers that injectors add after it are not "
                "aligned",
                _replace(one, "reinvocationPolicy", "IfNeeded"),
            )


def selector(world: World) -> Iterator[Finding]:
    """Find that we are called for no namespace that there is."""
    for one in world.hooks:
        wanted = one.hook.namespace_selector or _EVERYTHING
        if world.namespaces and not any(map(wanted.matches, world.namespaces.values())):
            ours = wanted.matches({names.ADMISSION: names.ENABLED})
            label = f"kubectl label namespace NAME {names.ADMISSION}={names.ENABLED}"
            yield Finding(
                "webhook-selector",
                Severity.ERROR,
                one.object,
                f"the namespaceSelector of webhook {one.hook.name} matches none of "
                f"{count(len(world.namespaces), 'namespace')}",
                label if ours else _edit(one),
            )


def participants(world: World) -> Iterator[Finding]:
    """Find that nobody takes part."""
    if not world.participants:
        yield Finding(
            "namespaces-none",
            Severity.ERROR,
            "Namespace",
            f"no namespace takes part: none has the label {names.ADMISSION}={names.ENABLED}",
            f"kubectl label namespace NAME {names.ADMISSION}={names.ENABLED}",
        )


def fail_closed(world: World) -> Iterator[Finding]:
    """Find that nobody could start us if we are down: our own pods would wait for ourselves."""
    for one in world.hooks:
        if one.hook.failure_policy == "Ignore":
            continue
        wanted = one.hook.namespace_selector or _EVERYTHING
        locked = [
            name
            for name in (world.own_namespace, _SYSTEM)
            if name in world.namespaces and wanted.matches(world.namespaces[name])
        ]
        if locked:
            yield Finding(
                "webhook-fail-closed",
                Severity.ERROR,
                one.object,
                f"failurePolicy of webhook {one.hook.name} is Fail and it is asked about pods of "
                f"{one_of(locked, last='and')}: while it is down these cannot be created, "
                "its own among them",
                _replace(one, "failurePolicy", "Ignore"),
            )


def _asks_for_pods(hook: Hook) -> bool:
    return any(
        {"CREATE", "*"} & set(rule.operations or ())
        and {"pods", "*", "*/*", "pods/*"} & set(rule.resources or ())
        and {"", "*"} & set(rule.api_groups or ())
        for rule in hook.rules or ()
    )


def _edit(one: Placed) -> str:
    return f"kubectl edit mutatingwebhookconfiguration {one.configuration}"


def _replace(one: Placed, key: str, value: str) -> str:
    """Write the command that sets a field of a hook, by its place in the configuration."""
    operation = f'[{{"op":"add","path":"/webhooks/{one.place}/{key}","value":"{value}"}}]'
    return (
        f"kubectl patch mutatingwebhookconfiguration {one.configuration} --type=json "
        f"-p '{operation}'"
    )
