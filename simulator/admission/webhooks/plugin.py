"""The plug-in MutatingAdmissionWebhook: asks the hooks of the store one after the other.

For: the order of calls, what a failure means, and the second round for those that want to see
what others changed after them.
Not for: how each of these is decided or done; that is around here.

Kubernetes: apiserver/pkg/admission/plugin/webhook/mutating/{dispatcher,reinvocationcontext}.go.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from simulator.admission.chain import run
from simulator.admission.webhooks import answers, matching, review
from simulator.admission.webhooks.answers import CannotCall
from simulator.admission.webhooks.client import Client
from simulator.admission.webhooks.conditions import CannotEvaluate, all_hold
from simulator.admission.webhooks.model import hooks_of
from simulator.errors import forbidden, not_found
from simulator.objects import encode
from simulator.resources import MUTATING_WEBHOOKS, NAMESPACES
from simulator.rules.defaults import defaulted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.admission.chain import Attributes, Plugin
    from simulator.admission.webhooks.client import Services
    from simulator.admission.webhooks.model import Hook
    from simulator.objects import Object
    from simulator.resources import Resource
    from simulator.store.store import Store
    from simulator.store.table import Change

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Rounds:
    """Who was asked and wants to be asked again if the object changes, and who is to be."""

    changed: bool = False
    asked: set[str] = field(default_factory=set)
    due: set[str] = field(default_factory=set)

    def note_change(self) -> None:
        """Have all that were asked before this change asked again: they have not seen it."""
        self.due |= self.asked
        self.asked.clear()


class MutatingWebhooks:
    """The hooks of the store. `before`: the plug-ins that run again after a hook's change."""

    def __init__(
        self,
        store: Store,
        resources: Iterable[Resource],
        services: Services,
        before: Sequence[Plugin] = (),
    ) -> None:
        self._store, self._before = store, before
        self._client = Client(services)
        self._random = store.chance.stream("admission reviews")
        self._equals: dict[str, list[Resource]] = {}
        for one in resources:
            self._equals.setdefault(one.storage, []).append(one)
        self._hooks: tuple[Hook, ...] = ()
        store.table(MUTATING_WEBHOOKS).listen(self._note)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Return the object as the hooks want it. Raises what they refuse."""
        if not self._hooks or matching.exempt(attributes.target):
            return attributes.obj
        hooks, rounds = self._hooks, _Rounds()
        obj = await self._round(hooks, attributes, rounds, again=False)
        if not rounds.changed:
            return obj
        completed = await run(self._before, replace(attributes, obj=obj))
        if completed != obj:
            rounds.note_change()
        if not rounds.due:
            return completed
        return await self._round(hooks, replace(attributes, obj=completed), rounds, again=True)

    def _note(self, change: Change) -> None:  # noqa: ARG002  any change: all are read again
        records = self._store.table(MUTATING_WEBHOOKS).records()
        self._hooks = hooks_of(record.object for record in records)
        self._client.keep_only({hook.endpoint.connects_like for hook in self._hooks})

    async def _round(
        self, hooks: Sequence[Hook], attributes: Attributes, rounds: _Rounds, *, again: bool
    ) -> Object | None:
        for hook in hooks:
            if again and hook.key not in rounds.due:
                continue
            request = self._asked(hook, attributes)
            if request is None:
                continue
            try:
                obj = await self._call(hook, request, attributes)
            except CannotCall as error:
                if not hook.ignored:
                    raise answers.internal(
                        f'failed calling webhook "{hook.name}": {error}'
                    ) from error
                _log.warning("failed calling webhook %s, failing open: %s", hook.name, error)
                obj = attributes.obj
            if obj is not attributes.obj:
                attributes = replace(attributes, obj=obj)
                rounds.changed = True
                rounds.note_change()
            if hook.webhook.reinvocation_policy == "IfNeeded":
                rounds.asked.add(hook.key)
        return attributes.obj

    def _asked(self, hook: Hook, attributes: Attributes) -> _Request | None:
        """Make what a hook is to be sent; None: it does not want to know."""
        if not self._namespace_matches(hook, attributes):
            return None
        equals = self._equals.get(attributes.target.resource.storage, [])
        resource = matching.asked_as(hook, attributes, equals)
        if resource is None:
            return None
        if not matching.objects_match(hook.objects, attributes.obj, attributes.old):
            return None
        uid = str(UUID(int=self._random.getrandbits(128), version=4))
        request = _Request(
            resource,
            uid,
            review.request_of(uid, resource, attributes),
            review.shown(resource, attributes, attributes.obj),
            review.shown(resource, attributes, attributes.old),
        )
        return request if self._conditions_hold(hook, request, attributes) else None

    def _namespace_matches(self, hook: Hook, attributes: Attributes) -> bool:
        target, namespace = attributes.target, matching.namespace_of(attributes)
        if not hook.namespaces or not namespace:
            return True
        made = target.resource is NAMESPACES and not target.subresource
        if made and attributes.obj is not None:
            return matching.labels_match(hook.namespaces, matching.labels_of(attributes.obj))
        record = self._store.table(NAMESPACES).get(("", namespace))
        if record is None:
            raise not_found(NAMESPACES, namespace)
        return matching.labels_match(hook.namespaces, matching.labels_of(record.object))

    @staticmethod
    def _conditions_hold(hook: Hook, request: _Request, attributes: Attributes) -> bool:
        if not hook.conditions:
            return True
        context = {"object": request.obj, "oldObject": request.old, "request": request.about}
        try:
            return all_hold(hook.conditions, context)
        except CannotEvaluate as error:
            if hook.ignored:
                return False
            name = matching.name_of(attributes)
            raise forbidden(attributes.target.resource, name, str(error)) from error

    async def _call(self, hook: Hook, request: _Request, attributes: Attributes) -> Object | None:
        """Ask one hook; returns the same object if it changes nothing."""
        if attributes.dry_run and hook.webhook.side_effects not in ("None", "NoneOnDryRun"):
            raise answers.not_for_dry_run(hook.name)
        body = encode(review.review_of(request.about, request.obj, request.old))
        body = await self._client.post(hook.endpoint, body, hook.webhook.timeout_seconds)
        answer = answers.read(body, request.uid)
        attributes.warnings.extend(answer.warnings or ())
        if not answer.allowed:
            raise answers.denied(hook.name, answer.status)
        if not answer.patch:
            return attributes.obj
        seen = answers.patched(hook.name, request.obj, answer.patch)
        if seen is None or seen == request.obj:
            return attributes.obj
        obj = review.stored(request.resource, attributes, seen)
        resource = attributes.target.resource
        return defaulted(resource, obj) if obj.get("kind") == resource.kind else obj


@dataclass(frozen=True, slots=True)
class _Request:
    """What a hook is sent."""

    resource: Resource
    uid: str
    about: Object
    obj: Object | None
    old: Object | None
