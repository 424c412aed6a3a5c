"""Send a pod through the real admission answer and read it as the API server does."""

from __future__ import annotations

import base64
import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apiserver
from apiserver import PREFERRED, REQUIRED
from builders import NOW, Review, review

from evencore.domain.policy import Policy
from evencore.domain.snapshot import Snapshot
from webhook.mutate import Mutator

if TYPE_CHECKING:
    from datetime import datetime

    from webhook.mutate import Outcome


@dataclass(frozen=True)
class Answer:
    """What came back, and the object after it."""

    http: int
    review: dict[str, Any]  # the whole answer
    before: Any
    after: Any
    patch: list[dict[str, Any]]
    outcome: Outcome

    @property
    def allowed(self) -> bool:
        return bool(self.review["response"]["allowed"])

    @property
    def warnings(self) -> list[str]:
        found: list[str] = self.review["response"].get("warnings", [])
        return found

    @property
    def message(self) -> str:
        return str(self.review["response"]["status"]["message"])

    @property
    def cpu(self) -> dict[str, tuple[Any, Any]]:
        """Container -> CPU request and limit after the patch and defaulting."""
        found = {}
        for container in apiserver.containers(apiserver.defaulted(self.after)):
            resources = container.get("resources") or {}
            parts = resources.get("requests") or {}, resources.get("limits") or {}
            found[container["name"]] = (parts[0].get("cpu"), parts[1].get("cpu"))
        return found

    @property
    def required(self) -> list[dict[str, Any]] | None:
        """The terms of the required node affinity after the patch."""
        required = self._node_affinity.get(REQUIRED)
        return None if required is None else required["nodeSelectorTerms"]

    @property
    def preferred(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._node_affinity.get(PREFERRED) or []
        return found

    @property
    def annotations(self) -> dict[str, str]:
        found: dict[str, str] = self.after["metadata"].get("annotations") or {}
        return found

    @property
    def labels(self) -> dict[str, str]:
        found: dict[str, str] = self.after["metadata"].get("labels") or {}
        return found

    @property
    def _node_affinity(self) -> dict[str, Any]:
        return (self.after["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def post(
    body: bytes,
    snapshot: Snapshot | None = None,
    policy: Policy | None = None,
    now: datetime = NOW,
) -> tuple[int, bytes, Outcome]:
    """Send a body; returns status, body and what the log would be told."""
    outcomes: list[Outcome] = []
    known = snapshot or Snapshot()
    mutator = Mutator(
        policy or Policy(), lambda: known, lambda: now, lambda o, _: outcomes.append(o)
    )
    status, answer = mutator(body)
    (outcome,) = outcomes
    return status, answer, outcome


def admit(
    sent: Any,  # noqa: ANN401  a review, a builder of one, or what a builder of one takes
    snapshot: Snapshot | None = None,
    policy: Policy | None = None,
    now: datetime = NOW,
) -> Answer:
    """Send a pod (or a whole review), check the envelope, apply the patch strictly."""
    if not isinstance(sent, Review | dict) or "request" not in getattr(sent, "obj", sent):
        sent = review(sent)
    whole = sent.obj if isinstance(sent, Review) else sent
    status, body, outcome = post(json.dumps(whole).encode(), snapshot, policy, now)
    answer = json.loads(body)
    check_envelope(answer, whole["request"]["uid"])
    response = answer["response"]
    patch = json.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    before = copy.deepcopy(whole["request"].get("object"))
    after = apiserver.apply(before, patch) if patch else before
    return Answer(status, answer, before, after, patch, outcome)


def check_envelope(answer: dict[str, Any], uid: str) -> None:
    """Check what VerifyAdmissionResponse of the API server demands, and what we promise."""
    assert answer.keys() == {"apiVersion", "kind", "response"}
    assert answer["apiVersion"] == "admission.k8s.io/v1"
    assert answer["kind"] == "AdmissionReview"
    response = answer["response"]
    assert response["uid"] == uid
    assert isinstance(response["allowed"], bool)
    assert ("patch" in response) == ("patchType" in response)
    if "patch" in response:
        assert response["allowed"]
        assert response["patchType"] == "JSONPatch"
        assert json.loads(base64.b64decode(response["patch"], validate=True))
    warnings = response.get("warnings", [])
    assert len(warnings) <= 4
    assert all(w and len(w.encode()) < 120 and w.isprintable() for w in warnings), warnings
