"""Cases from public reports, as files: what each one sends, and the cluster it is sent in.

The files are kept as they came. They show only what matters in each, and in several shapes: whole
objects, parts of objects, a template with values, a time line. Here they become AdmissionReviews.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from builders import Pod, container, failed, pod, review

from evencore.domain.collect import collect
from evencore.domain.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evencore.domain.snapshot import Snapshot

_FOLDER = Path(__file__).parents[1] / "cases"
_KINDS = {"webhook-mutation", "webhook-robustness", "topology-affinity"}


@dataclass(frozen=True)
class Case:
    """One file."""

    name: str
    input: dict[str, Any]
    expect: Any

    @cached_property
    def nodes(self) -> list[dict[str, Any]]:
        return [{"apiVersion": "v1", "kind": "Node", **n} for n in self.input.get("nodes", ())]

    @cached_property
    def snapshot(self) -> Snapshot:
        rejected = [failed(e["node"], e["ownerUid"]).obj for e in self.input.get("exclusions", ())]
        rejected += [
            failed(found["node"], found["owner"]).obj
            for event in self._events
            if (found := _FAILS.fullmatch(event))
        ]
        return collect([*self.nodes, *self.input.get("namespaceObjects", ()), *rejected]).snapshot

    @cached_property
    def policy(self) -> Policy:
        config = self.input.get("config", {})
        said: dict[str, Any] = {"defaultThreadsPerCore": config.get("smt", 2)}
        if "ignoredNamespaces" in config:
            said["ignoredNamespaces"] = config["ignoredNamespaces"]
        return Policy.from_mapping(said)

    @cached_property
    def reviews(self) -> dict[str, dict[str, Any]]:
        """The reviews that the case sends, by the names that it gives them."""
        found = {}
        for request in self.input.get("requests", ()):
            found[request["name"]] = self._review(request)
        for variant in self.input.get("variants", ()):
            found[variant["name"]] = review(self._variant(variant)).obj
        for event in self._events:
            if create := _CREATES.fullmatch(event):
                built = pod().owner(create["owner"]).cpu(create["cpu"])
                found[create["name"]] = review(built).obj
        return found

    @property
    def _events(self) -> list[str]:
        timeline = self.input.get("timeline")
        return [e["event"] for e in timeline] if isinstance(timeline, list) else []

    def _review(self, request: dict[str, Any]) -> dict[str, Any]:
        rest = {k: request[k] for k in ("operation", "subResource", "kind") if k in request}
        known = {"pod": self.input.get("pod")}
        for part in ("object", "oldObject"):
            if part in request:
                rest[part] = _object(request[part], known["pod"])
        if "object" not in rest:
            rest["object"] = self._sketched(request).obj
        if "owner" in request:
            rest["object"] = copy.deepcopy(rest["object"])
            owners = pod().owner(request["owner"]).obj["metadata"]["ownerReferences"]
            rest["object"]["metadata"]["ownerReferences"] = owners
        return review({}).with_(namespace=request.get("namespace", "apps"), **rest).obj

    def _sketched(self, request: dict[str, Any]) -> Pod:
        """Build a pod of which only the affinity is shown, or that is put into words."""
        words = " ".join((self.input.get("podCommon", ""), request.get("pod", "")))
        built = pod().cpu(_CPU.search(words)["cpu"])
        if owner := _OWNER.search(words):
            built.owner(owner["uid"])
        return built.spec(**{k: request[k] for k in ("affinity", "nodeSelector") if k in request})

    def _variant(self, variant: dict[str, Any]) -> Pod:
        built = pod().cpu(_CPU.search(self.input["note"])["cpu"])
        built.owner(self.input["exclusions"][0]["ownerUid"])
        return built.metadata(**variant.get("metadata", {})).spec(**variant.get("spec", {}))


_CPU = re.compile(r"\bcpu (?P<cpu>[^\s/,;]+)")
_OWNER = re.compile(r"\bowner ReplicaSet uid (?P<uid>[^\s,]+)")
_FAILS = re.compile(r"pod \S+ of (?P<owner>\S+) Failed on (?P<node>\S+), reason \S+")
_CREATES = re.compile(
    r"CREATE (?P<name>\S+) of (?P<owner>\S+) \(Guaranteed, cpu (?P<cpu>\S+)/\S+\)"
)

# Changes to a pod that a case puts into words.
_EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pod": lambda p: p,
    "pod + labels {x: y}": lambda p: p["metadata"].update(labels={"x": "y"}),
    "pod without finalizers, with deletionTimestamp": lambda p: p["metadata"].update(
        finalizers=None, deletionTimestamp="2026-03-01T10:00:00Z"
    ),
    "pod + spec.ephemeralContainers [{name: dbg, image: registry.example/busybox:1}]": lambda p: p[
        "spec"
    ].update(ephemeralContainers=[{"name": "dbg", "image": "registry.example/busybox:1"}]),
    "pod with cpu 5/5": lambda p: p["spec"].update(containers=[container("w", cpu="5").obj]),
    "pod + status.phase Running": lambda p: p.update(status={"phase": "Running"}),
}


def _object(shown: Any, base: Any) -> Any:  # noqa: ANN401  any JSON
    if not isinstance(shown, str):
        return shown
    built = copy.deepcopy(base)
    _EDITS[shown](built)
    return built


def cases() -> Iterator[Case]:
    """Read every file whose kind is one that a single admission request can show."""
    for path in sorted(_FOLDER.glob("*.yaml")):
        text = path.read_text().replace("PRODUCT/", "evencore.io/")
        content = yaml.safe_load(text)
        if content["kind"] in _KINDS:
            yield Case(path.stem, content["input"], content["expect"])
