"""What is done with objects, by method, name and subresource.

For: reading the parameters of a request, calling `reads`, `writes`, `watching` or an action, and
writing the answer in the form that was asked for.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from simulator.api import (
    actions,
    bodies,
    field_validation,
    forms,
    list_options,
    reads,
    warnings,
    watching,
)
from simulator.api.field_validation import FieldValidation
from simulator.api.http import Response, Stream
from simulator.api.writes import Call
from simulator.auth.asked import is_set
from simulator.clock import timestamp
from simulator.errors import ApiError, NotFound, bad_request, method_not_allowed
from simulator.objects import encode
from simulator.patches.apply import apply
from simulator.resources import NAMESPACES, PODS, QUOTAS, SCALE, SERVICE_ACCOUNTS
from simulator.rules import shapes
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.admission.chain import User
    from simulator.api.forms import Form
    from simulator.api.http import Channel, Request
    from simulator.api.routing import Target
    from simulator.api.writes import Writes
    from simulator.objects import Object
    from simulator.resources import Resource
    from simulator.store.store import Store
    from simulator.store.table import Record

# Their delete answers with what was deleted, all others with a Status (ReturnDeletedObject).
_RETURNED: Final = (PODS, NAMESPACES, QUOTAS, SERVICE_ACCOUNTS)


class Verbs:
    """Answers requests about objects."""

    def __init__(self, store: Store, writes: Writes) -> None:
        self._store, self._writes = store, writes
        self._fields = FieldValidation()

    async def answer(self, request: Request, target: Target, user: User) -> Response | Stream:
        """Answer a request about what `target` says."""
        include = request.query.get("includeObject", "")
        accept = request.headers.get("accept", "")
        form = forms.choose(accept, include, self._store.clock.now())
        call = _call(request, user)
        try:
            return _warned(await self._answer(request, target, form, call), call)
        except ApiError as error:
            error.warnings = call.warnings
            raise

    async def _answer(
        self, request: Request, target: Target, form: Form, call: Call
    ) -> Response | Stream:
        if target.subresource in (SCALE, "binding", "eviction"):
            return await self._act(request, target, call)
        if target.name:
            return await self._one(request, target, form, call)
        return await self._collection(request, target, form, call)

    def would_create(self, request: Request, target: Target) -> bool:
        """Tell whether a patch is an apply that has nothing to merge into: a create, in truth."""
        if target.subresource or bodies.media_type(request) != bodies.APPLY:
            return False
        return self._store.table(target.resource).get((target.namespace, target.name)) is None

    async def _one(self, request: Request, target: Target, form: Form, call: Call) -> Response:
        resource, method = target.resource, request.method
        if method == "GET":
            record = self._store.get(resource, target.namespace, target.name)
            return Response(200, form.one(resource, record))
        if method == "PATCH" and bodies.media_type(request) == bodies.APPLY:
            return await self._apply(request, target, form, call)
        if method in ("PUT", "PATCH"):
            change = self._change(request, resource, call)
            record = await self._writes.update(target, change, call)
            return Response(200, form.one(resource, record))
        if method == "DELETE" and not target.subresource:
            options = _delete_options(request)
            record, gone = await self._writes.delete(target, options, call)
            if gone and resource not in _RETURNED:
                return Response(200, encode(_deleted(record, target)))
            return Response(200, form.one(resource, record))
        raise method_not_allowed()

    async def _apply(self, request: Request, target: Target, form: Form, call: Call) -> Response:
        """Make the object, or merge into the one that is there."""
        store, applied = self._store, bodies.read_applied(request)
        self._fields.applied(target.resource, applied)
        shapes.check(target.resource, applied)
        manager, now = request.query["fieldManager"], timestamp(store.clock.now())
        force = request.query.get("force") == "true"

        def merged(live: Object) -> Object:
            return apply(live, applied, manager, now, force=force)

        if self.would_create(request, target):
            bare = {"metadata": {"name": target.name}}
            record = await self._writes.create(target._replace(name=""), merged(bare), call)
            return Response(201, form.one(target.resource, record))
        record = await self._writes.update(target, merged, call)
        return Response(200, form.one(target.resource, record))

    async def _collection(
        self, request: Request, target: Target, form: Form, call: Call
    ) -> Response | Stream:
        resource, method = target.resource, request.method
        if method == "GET":
            list_options.check(request.query)
            if is_set(request.query, "watch"):
                return self._watch(request, target, form)
            page = reads.list_page(self._store, target, request.query)
            return Response(200, form.many(resource, page.records, page.metadata))
        if resource.namespaced and not target.namespace:
            raise method_not_allowed()
        if method == "POST":
            given = self._fields.whole(request, resource, bodies.read_object(request), call)
            record = await self._writes.create(target, given, call)
            return Response(201, form.one(resource, record))
        if method == "DELETE":
            options = _delete_options(request)
            page = reads.list_page(self._store, target, request.query)
            deleted = []
            for one in page.records:
                await asyncio.sleep(0)  # others are answered meanwhile, however many these are
                # Who was deleted by somebody else while this waited is gone all the same.
                with suppress(NotFound):
                    each = target._replace(name=one.key[1])
                    deleted.append((await self._writes.delete(each, options, call))[0])
            return Response(200, form.many(resource, deleted, page.metadata))
        raise method_not_allowed()

    def _change(
        self, request: Request, resource: Resource, call: Call
    ) -> Callable[[Object], Object]:
        """Give what makes the new object of the old one, and checks its fields."""
        change, check = _change(request), self._fields.whole
        if request.method == "PATCH":
            check = self._fields.patched
        return lambda old: check(request, resource, change(old), call)

    def _watch(self, request: Request, target: Target, form: Form) -> Stream:
        wish = watching.wish_of(self._store, target, request.query)

        def start(channel: Channel) -> Callable[[], None]:
            return watching.Watch(self._store, target, wish, form, channel).start()

        return Stream(start)

    async def _act(self, request: Request, target: Target, call: Call) -> Response:
        store, writes, method = self._store, self._writes, request.method
        if target.subresource == SCALE and method == "GET":
            record = store.get(target.resource, target.namespace, target.name)
            return Response(200, encode(actions.scale_of(record, target)))
        if target.subresource == SCALE and method in ("PUT", "PATCH"):
            scale = await actions.rescale(store, writes, target, _change(request), call)
            return Response(200, encode(scale))
        if target.subresource == "binding" and method == "POST":
            body = bodies.read_object(request)
            return Response(201, encode(await actions.bind(store, writes, target, body, call)))
        if target.subresource == "eviction" and method == "POST":
            body = bodies.read_object(request)
            return Response(201, encode(await actions.evict(writes, target, body, call)))
        raise method_not_allowed()


def _change(request: Request) -> Callable[[Object], Object]:
    """Give what makes the new object of the old one: a patch, or the object of a PUT."""
    if request.method == "PATCH":
        return bodies.read_patch(request)
    body = bodies.read_object(request)
    return lambda _: body


def _call(request: Request, user: User) -> Call:
    kinds = {"POST": "Create", "PUT": "Update", "PATCH": "Patch", "DELETE": "Delete"}
    options: Object = {
        "kind": f"{kinds.get(request.method, 'Get')}Options",
        "apiVersion": "meta.k8s.io/v1",
    }
    dry_run = request.query.get("dryRun", "")
    if dry_run not in ("", "All"):
        raise bad_request(f"dryRun={dry_run} is not supported: All is the only value")
    if dry_run:
        options["dryRun"] = ["All"]
    if request.query.get("fieldManager"):
        options["fieldManager"] = request.query["fieldManager"]
    if wish := field_validation.directive(request, options["kind"]):
        options[field_validation.OPTION] = wish
    return Call(user, dry_run=bool(dry_run), options=options)


def _delete_options(request: Request) -> Options:
    """Read the options from the body, else from the query, as the API server does."""
    body = bodies.read_object(request)
    if not body:
        query = request.query
        grace = query.get("gracePeriodSeconds", "")
        body = {
            "gracePeriodSeconds": int(grace) if grace.isdecimal() else None,
            "propagationPolicy": query.get("propagationPolicy"),
        }
    return Options.read(body)


def _deleted(record: Record, target: Target) -> Object:
    resource = target.resource
    group = {"group": resource.group} if resource.group else {}
    uid = record.object["metadata"]["uid"]
    details = {"name": target.name, **group, "kind": resource.plural, "uid": uid}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def _warned(answer: Response | Stream, call: Call) -> Response | Stream:
    told = warnings.header(call.warnings)
    if told and isinstance(answer, Response):
        answer.headers["Warning"] = told
    return answer
