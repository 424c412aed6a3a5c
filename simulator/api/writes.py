"""Writing: create, update, patch, delete, each through defaults, admission and validation.

For: the one way on which an object gets into the store, for clients and for controllers.
Not for: HTTP; a request is read elsewhere. Admission sits here, between defaults and validation.

Kubernetes rule: admission may take its time, so what it saw may be outdated when it is done. A
patch is then made again on the newer object; a client that named a version is told 409.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from simulator import versions
from simulator.admission.chain import Attributes, Plugin, User, run
from simulator.auth.credentials import of_certificate
from simulator.errors import bad_request, conflict
from simulator.objects import copy
from simulator.rules import shapes, strategy
from simulator.rules.defaults import defaulted, defaulted_again
from simulator.store import metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.api.routing import Target
    from simulator.objects import Object
    from simulator.store.deletion import Options
    from simulator.store.store import Store
    from simulator.store.table import Record

_ADMIN: Final = "kubernetes-admin"
ADMIN: Final = User(
    _ADMIN, ("system:masters", "system:authenticated"), credential=of_certificate(_ADMIN)
)

TRIES: Final = 5
"""How often a change is made again if admission took too long for it."""


@dataclass(frozen=True, slots=True)
class Call:
    """Who writes, and how."""

    user: User = ADMIN
    dry_run: bool = False
    options: Object = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class Writes:
    """Writes to a store; `mutating` plug-ins run before validation, `validating` ones after."""

    def __init__(
        self, store: Store, mutating: Sequence[Plugin], validating: Sequence[Plugin]
    ) -> None:
        self._store = store
        self._mutating, self._validating = mutating, validating

    async def create(self, target: Target, given: Object, call: Call) -> Record:
        """Make an object. `target` is the collection."""
        resource = target.resource
        _check_type(target, given)
        shapes.check(resource, given)
        obj = versions.incoming(resource, copy(given))
        obj["metadata"] = _with_namespace(target, obj.get("metadata") or {})
        obj = await self._admit(
            self._mutating, "CREATE", target, defaulted(resource, obj), None, call
        )
        # What a webhook adds gets its defaults, too.
        obj = defaulted(resource, obj)
        strategy.check_new(resource, _named(obj))
        await self._admit(self._validating, "CREATE", target, obj, None, call)
        if not call.dry_run:
            metadata.refuse_a_version(obj)
        return self._store.create(
            resource,
            target.namespace,
            obj,
            finish=lambda made: strategy.complete_new(resource, made),
            dry_run=call.dry_run,
        )

    async def update(
        self, target: Target, change: Callable[[Object], Object], call: Call
    ) -> Record:
        """Replace an object by what `change` makes of it, in the shape that is served.

        `change` is handed the stored object itself and leaves it as it is. What it takes over
        from there unchanged need not be given its defaults again.
        """
        resource, store = target.resource, self._store
        for _ in range(TRIES):
            record = store.get(resource, target.namespace, target.name)
            old = record.object
            given = change(versions.outgoing(resource, old))
            _check_type(target, given)
            shapes.check(resource, given)
            _check_names(target, given)
            new = versions.incoming(resource, given)
            metadata.refuse_no_version(resource, target.name, new)
            new["metadata"] = {**(new.get("metadata") or {}), "name": target.name}
            metadata.for_update(resource, old, new, counts=False)  # an early 409
            new = defaulted_again(resource, old, new)
            # Mutating admission sees what the client sent; only then is left out what this
            # subresource may not change (rest.BeforeUpdate).
            admitted = await self._admit(self._mutating, "UPDATE", target, new, old, call)
            if admitted is not new:
                admitted = defaulted(resource, admitted)
            new = strategy.combined(resource, target.subresource, old, admitted)
            new = metadata.for_update(resource, old, new, counts=False)
            strategy.check_update(resource, target.subresource, old, new)
            await self._admit(self._validating, "UPDATE", target, new, old, call)
            if store.table(resource).get(record.key) is record:
                return store.update(resource, *record.key, new, dry_run=call.dry_run)
        raise conflict(resource, target.name)

    async def delete(self, target: Target, options: Options, call: Call) -> tuple[Record, bool]:
        """Delete an object; returns how it is now, and whether it is gone."""
        record = self._store.get(target.resource, target.namespace, target.name)
        told = replace(call, options={**call.options, **options.written()})
        await self._admit_both("DELETE", target, record.object, told)
        return self.remove(target, options, call)

    def remove(self, target: Target, options: Options, call: Call) -> tuple[Record, bool]:
        """Delete an object that was admitted in another way: by an eviction."""
        return self._store.delete(
            target.resource, target.namespace, target.name, options, dry_run=call.dry_run
        )

    async def admit_connect(self, target: Target, given: Object, call: Call) -> None:
        """Show a write to a subresource that is no object of its own: binding, eviction."""
        await self._admit(self._mutating, "CREATE", target, given, None, call)
        await self._admit(self._validating, "CREATE", target, given, None, call)

    async def admit_view(self, target: Target, new: Object, old: Object, call: Call) -> Object:
        """Show an update of a view of an object, and give it as admission leaves it: scale."""
        new = await self._admit(self._mutating, "UPDATE", target, new, old, call)
        await self._admit(self._validating, "UPDATE", target, new, old, call)
        return new

    async def _admit_both(self, operation: str, target: Target, old: Object, call: Call) -> None:
        for plugins in (self._mutating, self._validating):
            await run(plugins, _attributes(operation, target, None, old, call))

    async def _admit(  # noqa: PLR0913, PLR0917  what admission is told of
        self,
        plugins: Sequence[Plugin],
        operation: str,
        target: Target,
        obj: Object,
        old: Object | None,
        call: Call,
    ) -> Object:
        admitted = await run(plugins, _attributes(operation, target, obj, old, call))
        return obj if admitted is None else admitted


def _attributes(
    operation: str, target: Target, obj: Object | None, old: Object | None, call: Call
) -> Attributes:
    return Attributes(
        operation=operation,
        target=target,
        user=call.user,
        obj=obj,
        old=old,
        options=call.options,
        dry_run=call.dry_run,
        warnings=call.warnings,
    )


def _check_type(target: Target, given: Object) -> None:
    """Refuse an object of another kind; kind and apiVersion may be missing altogether."""
    resource = target.resource
    wanted = {"kind": resource.kind, "apiVersion": resource.api_version}
    for part, want in wanted.items():
        if given.get(part) not in (None, "", want):
            raise bad_request(
                f"the {part} in the data ({given[part]}) does not match the expected one ({want})"
            )


def _check_names(target: Target, given: Object) -> None:
    said = given.get("metadata") or {}
    for part, want in (("name", target.name), ("namespace", target.namespace)):
        if said.get(part) not in (None, "", want):
            raise bad_request(
                f"the {part} of the object ({said[part]}) does not match the {part} "
                f"on the URL ({want})"
            )


def _with_namespace(target: Target, said: Object) -> Object:
    if not target.resource.namespaced:
        return said
    if said.get("namespace") not in (None, "", target.namespace):
        raise bad_request(
            f"the namespace of the provided object ({said['namespace']}) does not match the "
            f"namespace sent on the request ({target.namespace})"
        )
    return {**said, "namespace": target.namespace}


def _named(obj: Object) -> Object:
    """Give the object a name for its validation, as long as the store has not generated one."""
    said = obj["metadata"]
    name = said.get("name") or (said.get("generateName") or "") + "x"
    return {**obj, "metadata": {**said, "name": name}}
