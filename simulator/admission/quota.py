"""ResourceQuota: what the pods of a namespace use together, and that it stays below its bound.

Kubernetes: plugin/pkg/admission/resourcequota and the quota controller, as far as pods, CPU and
memory go. Pods that have ended do not count. A quota on an amount makes every pod name it.
Everything is added up anew each time: namespaces with a quota are small here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.quantity import QuantityError, format_millis, parse_millis
from evencore.domain.resources import pod_total, read_amounts
from simulator.errors import forbidden
from simulator.objects import dig
from simulator.resources import PODS, QUOTAS
from simulator.rules.amounts import binary
from simulator.rules.new_pods import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.domain.resources import Amount, ContainerAmounts
    from simulator.admission.chain import Attributes
    from simulator.objects import Object
    from simulator.store.store import Store
    from simulator.store.table import Change

_ALIASES: Final = {"cpu": "requests.cpu", "memory": "requests.memory", "count/pods": "pods"}
_ENDED: Final = ("Failed", "Succeeded")
_ONE: Final = 1000  # everything is counted in thousandths


def usage(pod: Object) -> dict[str, int | None]:
    """Tell what a pod uses of each kind, in thousandths; None: it does not say."""
    if dig(pod, "status", "phase") in _ENDED:
        return {}
    amounts = read_amounts(spec_of(pod))
    found: dict[str, int | None] = {"pods": _ONE}
    for number, resource in enumerate(("cpu", "memory")):
        for part in ("request", "limit"):
            if amounts.pod_level is not None:
                total = getattr(amounts.pod_level[number], part)
            else:
                total = _total(amounts.containers, resource, part)
            found[f"{part}s.{resource}"] = total
    return found


def _total(containers: tuple[ContainerAmounts, ...], resource: str, part: str) -> int | None:
    parts = []
    for one in containers:
        amount: Amount = getattr(one, resource)
        value = getattr(amount, part)
        if value is None:
            return None
        parts.append((one.kind, value))
    return pod_total(parts)


def used(store: Store, namespace: str, hard: Object) -> dict[str, int]:
    """Add up what a namespace uses of the kinds that a quota names and that are counted here."""
    every = [usage(record.object) for record in store.table(PODS).records(namespace)]
    return {
        name: sum(one.get(_plain(name)) or 0 for one in every)
        for name in hard
        if _plain(name) in _COUNTED
    }


_COUNTED: Final = ("pods", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


def _plain(name: str) -> str:
    return _ALIASES.get(name, name)


def _shown(name: str, millis: int) -> str:
    return binary(-(-millis // _ONE)) if name.endswith("memory") else format_millis(millis)


class Quota:
    """The validating plug-in, last of all."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Refuse a new pod that is too much for its namespace."""
        target, pod = attributes.target, attributes.obj
        if (
            pod is None
            or attributes.operation != "CREATE"
            or target.resource is not PODS
            or target.subresource
        ):
            return pod
        for record in self._store.table(QUOTAS).records(target.namespace):
            why = self._refusal(record.object, pod, target.namespace)
            if why:
                name = pod["metadata"].get("name") or pod["metadata"].get("generateName", "")
                raise forbidden(PODS, name, why)
        return pod

    def _refusal(self, quota: Object, pod: Object, namespace: str) -> str:
        hard, name = dig(quota, "spec", "hard") or {}, quota["metadata"]["name"]
        now, more = used(self._store, namespace, hard), usage(pod)
        silent = sorted(kind for kind in now if more.get(_plain(kind)) is None)
        if silent:
            return f"failed quota: {name}: must specify {','.join(silent)}"
        over = [kind for kind in now if self._exceeds(now[kind], more, kind, hard)]
        if not over:
            return ""
        asked = ",".join(f"{kind}={_shown(kind, more[_plain(kind)] or 0)}" for kind in over)
        had = ",".join(f"{kind}={_shown(kind, now[kind])}" for kind in over)
        limit = ",".join(f"{kind}={hard[kind]}" for kind in over)
        return f"exceeded quota: {name}, requested: {asked}, used: {had}, limited: {limit}"

    @staticmethod
    def _exceeds(now: int, more: dict[str, int | None], kind: str, hard: Object) -> bool:
        try:
            return now + (more[_plain(kind)] or 0) > parse_millis(hard[kind])
        except QuantityError:
            return False  # a bound that is no amount bounds nothing


class Counter:
    """Keeps the status of quotas: once per moment, however many pods changed in it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due: set[str] = set()
        store.table(PODS).listen(self._note)
        store.table(QUOTAS).listen(self._note)

    def _note(self, change: Change) -> None:
        namespace = change.record.key[0]
        if namespace not in self._due and any(self._quotas(namespace)):
            self._due.add(namespace)
            self._store.clock.after(0, lambda: self._count(namespace))

    def _quotas(self, namespace: str) -> Iterator[Object]:
        return (one.object for one in self._store.table(QUOTAS).records(namespace))

    def _count(self, namespace: str) -> None:
        self._due.discard(namespace)
        for quota in list(self._quotas(namespace)):
            hard = dig(quota, "spec", "hard") or {}
            counted = used(self._store, namespace, hard)
            shown = {name: _shown(name, millis) for name, millis in counted.items()}
            status = {"hard": hard, "used": shown}
            self._store.update(
                QUOTAS, namespace, quota["metadata"]["name"], {**quota, "status": status}
            )
