"""What every write of ours must be, whatever the circumstances. Functions of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from evencore.domain import names
from evencore.domain.verdict import excluded_in
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Object = dict[str, Any]

NAMED: Final = "each write says exactly which object it means"
ALIVE: Final = "no write is to a pod that runs"
LEADER: Final = "only who holds the Lease writes"
ON_ITS_WAY_S: Final = 5.0
"""The next leader begins so long, at least, after the last one has ceased to write."""
OURS: Final = "nothing is written but pods, nodes, Events and the Lease"
NEEDED: Final = "no pod is deleted but rejected ones beyond the newest, and those that wait in vain"

_REJECTED: Final = ("TopologyAffinityError", "SMTAlignmentError", "UnexpectedAdmissionError")


class Seen(NamedTuple):
    """The cluster as a write arrives."""

    pod: Object | None  # of the name that the write has
    lease: Object | None  # None: the write was on its way for so long that anybody may have it
    left: Mapping[str, str]
    """Uid → age of the rejected pods of its owner that we have not deleted."""
    clock_fits: bool = True
    """Who is behind hears of what has yet to be, takes it for now, and knows no newest of those."""


def target(path: str) -> tuple[str, str]:
    """Return namespace and name of what a path means."""
    parts = [unquote(part) for part in path.split("/")]
    namespace = parts[parts.index("namespaces") + 1] if "namespaces" in parts else ""
    return namespace, parts[-1]


def look(  # noqa: PLR0913, PLR0917  all that there is to know of a write
    who: str,
    verb: str,
    path: str,
    body: Any,  # noqa: ANN401  JSON
    seen: Seen,
    keep: int,
) -> Iterator[tuple[str, str | None]]:
    """Yield each promise that is concerned, and how it is broken, if it is."""
    if "/leases" in path:
        sure = verb == "POST" or dig(body, "metadata", "resourceVersion")
        yield NAMED, None if sure else "no version"
        return
    if seen.lease is not None:
        holder = dig(seen.lease, "spec", "holderIdentity") or "nobody"
        yield LEADER, None if holder == who else f"{holder} holds it"
    if "/events" in path:
        yield OURS, None
    elif "/pods/" in path:
        yield OURS, None
        yield from _of_pod(verb, body, seen, keep)
    elif path.startswith("/api/v1/nodes/") and verb == "PATCH":
        strange = set(body) - {"metadata"} or set(body["metadata"]) - _PARTS
        keys = {
            *(body["metadata"].get("labels") or {}),
            *(body["metadata"].get("annotations") or {}),
        }
        strange |= {key for key in keys if not key.startswith(names.PREFIX)}
        yield OURS, f"{sorted(strange)}" if strange else None
        yield NAMED, None if dig(body, "metadata", "uid") else "no uid"
    else:
        yield OURS, "whose is that?"


_PARTS: Final = {"uid", "labels", "annotations", "resourceVersion"}


def _of_pod(verb: str, body: Any, seen: Seen, keep: int) -> Iterator[tuple[str, str | None]]:  # noqa: ANN401  JSON
    if verb == "DELETE":
        wanted = dig(body, "preconditions") or {}
    else:
        tests = ((op["path"].rpartition("/"), op) for op in body if op["op"] == "test")
        wanted = {name: op["value"] for (where, _, name), op in tests if where == "/metadata"}
    yield NAMED, None if "uid" in wanted else "no uid"
    pod = seen.pod
    if pod is None or any(pod["metadata"][name] != value for name, value in wanted.items()):
        return  # the API server refuses it: another pod has the name, or it has changed since
    phase = pod["status"].get("phase")
    yield ALIVE, "it runs" if phase == "Running" else None
    if verb == "DELETE":
        yield NEEDED, _needed(pod, seen, keep)


def _needed(pod: Object, seen: Seen, keep: int) -> str | None:
    """Say why a pod is not to be deleted; None: it may be."""
    meta, status = pod["metadata"], pod["status"]
    if "deletionTimestamp" in meta and status.get("phase") == "Failed":
        return None  # it hangs: somebody wanted it to go long ago
    if status.get("phase") != "Failed":
        waits = not pod["spec"].get("nodeName") and not pod["spec"].get("schedulingGates")
        off = excluded_in((meta.get("annotations") or {}).get(names.DECISION, ""))
        return None if waits and off else "it did not fail, and is kept off no node by us"
    if status.get("reason") not in _REJECTED:
        return f"it failed for another reason: {status.get('reason')}"
    others = [at for uid, at in seen.left.items() if uid != meta["uid"]]
    newer = sum(at >= age(pod) for at in others) if seen.clock_fits else len(others)
    return None if newer >= keep else f"only {newer} newer ones are left to read"


def owner(pod: Object) -> str:
    """Return the uid of who controls a pod."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((one["uid"] for one in owners if one.get("controller")), "")


def age(pod: Object) -> str:
    """Return when it was rejected, as the kubelet says; to be compared."""
    return str(pod["status"].get("startTime") or pod["metadata"]["creationTimestamp"])
