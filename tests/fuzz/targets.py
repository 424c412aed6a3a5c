"""What is fuzzed: functions of bytes that raise if something does not hold that we promise.

For: the same properties for hypothesis (`make test`) and for atheris (`make fuzz`).
Not for: making bytes. More is asked than that nothing raises: each says what must come out.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import apiserver
import jsonpatch
import msgspec
from admission import check_envelope, post
from builders import NOW, failed, limit_range, namespace, node, node_topology, snapshot

from evencore.domain import names
from evencore.domain.annotations import policy_for
from evencore.domain.brief import brief_event, brief_pod
from evencore.domain.collect import collect
from evencore.domain.event_views import EventView
from evencore.domain.events import rejection_in, told
from evencore.domain.exclusive import InUse
from evencore.domain.labelling import labelling
from evencore.domain.learnt import NOTHING
from evencore.domain.lenient import read
from evencore.domain.policy import WIDTHS, Policy, PolicyError
from evencore.domain.quantity import QuantityError, format_millis, parse_millis, parse_nanos
from evencore.domain.rejection import classify, named_width, rejection_of
from evencore.domain.resources import read_amounts
from evencore.domain.topology import node_facts
from evencore.domain.views import FailedPodView, NodeView, PodSpec, TopologyView
from evencore.kube.configuration import load
from evencore.kube.decoding import Decoder
from evencore.kube.errors import Call, NoConfiguration, Unreadable
from evencore.kube.witnesses import WITNESSES
from evencore.kubeyaml import YamlError, read_yaml
from evencore.nodefiles.files import nodes_file
from evencore.rejections.objects import objects_of
from evencore.rejections.report import report
from evencore.rejections.text import render
from evencore.strict import FileError
from webhook.heads import LONGEST_HEAD, head_of

if TYPE_CHECKING:
    from collections.abc import Callable

KNOWN: Final = snapshot(
    node("n1").named().width(2).largest(22, 46).label("zone", "a"),
    node("n2").named().width(4).largest(4),
    node("n3"),
    node_topology("n3").numa("22", "24").attribute("topologyManagerPolicy", "single-numa-node"),
    namespace().metadata(annotations={"evencore.io/cpu.side": "keep"}),
    limit_range().maximum("40"),
    *(failed("n1", "rs-1", number).rejected("n1") for number in range(2)),
)
OURS: Final = {names.DECISION, names.ORIGINAL_CPU}
_LABEL: Final = re.compile(r"([A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?)?")
_UNSAID: Final = b"s3cr3t-t0ken"  # of the seeds
_A_TOKEN: Final = re.compile(rb"\btoken\"?: \"?" + _UNSAID)
_CALL: Final = Call("GET", "/", "fuzz")


def mutate(data: bytes) -> None:
    """Send a body to the webhook: a 400, or a review with its uid and a patch as promised."""
    status, body, outcome = post(data, KNOWN)
    assert outcome.result != "failed", outcome.error
    answer = json.loads(body)
    assert len(body) < 3 * len(data) + 10_000, "an answer is not much larger than what was asked"
    if status == 400:
        assert answer.keys() == {"error"}
        assert outcome.result == "refused"
        return
    assert status == 200
    assert outcome.request is not None
    sent = json.loads(data.decode(errors="replace"))  # as API servers do
    check_envelope(answer, outcome.request.uid)
    uid = sent["request"]["uid"]
    assert uid == outcome.request.uid or isinstance(uid, float), "a number keeps its text"
    if "patch" in answer["response"]:
        _patch(sent, base64.b64decode(answer["response"]["patch"]), outcome.request.uid)


def _patch(sent: Any, patch: bytes, uid: str) -> None:  # noqa: ANN401  any JSON
    before = sent["request"]["object"]
    after = jsonpatch.apply_patch(before, json.loads(patch))
    assert _without_ours(after) == _without_ours(before), "nothing but ours is touched"
    sent["request"]["object"] = after
    status, body, _ = post(json.dumps(sent).encode(), KNOWN)
    assert status == 200
    again = json.loads(body)["response"]
    assert again["uid"] == uid
    assert "patch" not in again, "a second call changes nothing"


def _without_ours(pod: Any) -> Any:  # noqa: ANN401  any JSON
    """Return a pod less what we may write; empty, null and missing are the same."""
    pod = json.loads(json.dumps(pod))
    meta, spec = pod.setdefault("metadata", {}) or {}, pod["spec"]
    for part, keys in (("annotations", OURS), ("labels", {names.STEERING})):
        meta[part] = {k: v for k, v in (meta.get(part) or {}).items() if k not in keys}
    pod["metadata"] = meta
    for container in apiserver.containers(pod):
        resources = container.get("resources") or {}
        for part in ("requests", "limits"):
            resources[part] = {k: v for k, v in (resources.get(part) or {}).items() if k != "cpu"}
        container["resources"] = resources
    gates = spec.pop("schedulingGates", None) or []
    spec["schedulingGates"] = [gate for gate in gates if gate.get("name") != names.HOLD]
    affinity = spec.pop("affinity", None) or {}
    spec["affinity"] = {k: v for k, v in affinity.items() if k != "nodeAffinity"}
    return pod


def _in_words(error: Exception, most: int) -> None:
    assert 0 < len(str(error)) < most


def quantity(data: bytes) -> None:
    """Read an amount: a QuantityError of bounded length, or a number of bounded size."""
    text = data.decode(errors="replace")
    try:
        nanos = parse_nanos(text)
    except QuantityError as error:
        _in_words(error, 300)
        return
    assert abs(nanos) <= 10**49
    try:
        millis = parse_millis(text)
    except QuantityError:
        assert nanos < 0
        return
    assert parse_millis(format_millis(millis)) == millis
    assert 0 <= millis * 10**6 - nanos < 10**6


def annotations(data: bytes) -> None:
    """Read what people wrote on a pod: every wish comes to one that there is."""
    lines = data.decode(errors="replace").split("\n")
    written = dict(line.partition("=")[::2] for line in lines)
    spec = {"containers": [{"name": name} for name in ("app", "side")]}
    containers = read_amounts(read(PodSpec, spec)[0]).containers
    found = policy_for(Policy(), written, written, containers)
    assert found.cpu_of.keys() <= {"app", "side"}
    assert len(found.warnings) <= 2 * 2 * 5
    assert all(len(warning) < 500 for warning in found.warnings)


def policy(data: bytes) -> None:
    """Read a policy file: a problem that has its place, or a policy that can be written again."""
    for value, _ in _yaml(data):
        try:
            made = Policy.from_mapping(value, "policy.yaml")
        except PolicyError as error:
            _in_words(error, 100_000)
            continue
        assert Policy.from_mapping(made.as_written(), "again") == made


def _yaml(data: bytes) -> list[Any]:
    try:
        return [(one.value, one.line) for one in read_yaml(data.decode(errors="replace"))]
    except YamlError as error:
        _in_words(error, 1000)
        return []


def node_file(data: bytes) -> None:
    """Read a node file: a problem, or nodes of bounded number."""
    for value, _ in _yaml(data):
        try:
            nodes_file(value)
        except FileError as error:
            _in_words(error, 100_000)


def message(data: bytes) -> None:
    """Read a kubelet's words: a kind or none; a width that exists or none; never of other text."""
    reason, _, text = data.decode(errors="replace").partition("\n")
    kind, width = classify(reason, text), named_width(text)
    assert width is None or width in WIDTHS
    if kind is not None:
        assert reason.isprintable(), "a reason of ours is shown to people"
        assert classify(reason, text[:1024]) is not None or len(text) > 1024


def event(data: bytes) -> None:
    """Read an Event as a watch shows it: what is kept tells the same, and is small."""
    decoder: Decoder[Any] = Decoder(EventView, "events")
    found = decoder.event(data)
    if found is None or not isinstance(found.object, EventView):
        return
    view = found.object
    short = brief_event(view)
    assert len(msgspec.json.encode(short)) < 40_000
    said, said_short = told(view), told(short)
    if said is not None and said_short is not None:
        whole, less = rejection_in(said), rejection_in(said_short)
        assert (whole is None) or len(said.message) > 1024 or whole == less


def failed_pod(data: bytes) -> None:
    """Read a failed pod: what is kept tells the same, and is small."""
    try:
        view = msgspec.json.decode(data, type=FailedPodView)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    found, short = rejection_of(view), brief_pod(view)
    less = rejection_of(short)
    if found is not None:
        assert NOTHING.also(found).words == () or found.width in WIDTHS
        assert found.reason.isprintable()
        if len(data) < 128:
            assert less == found


def page(data: bytes) -> None:
    """Read a page of a list: Unreadable, or objects; one odd object spoils no other."""
    for kind in (WITNESSES["failed pods"], WITNESSES["topology rejections"]):
        decoder: Decoder[Any] = Decoder(kind.view, kind.resource.path, kind.keep)
        try:
            found = decoder.page(data, _CALL)
        except Unreadable as error:
            _in_words(error, 1000)
            continue
        items = json.loads(data.decode(errors="replace")).get("items") or []
        assert len(found.objects) + decoder.skipped <= len(items)


def topology(data: bytes) -> None:
    """Read a node and its NodeResourceTopology: facts and labels in bounds, whatever they say."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    pair = value if isinstance(value, list) and len(value) == 2 else [value, value]
    node_view, seen = read(NodeView, pair[0])[0], read(TopologyView, pair[1])[0]
    facts = node_facts(node_view, seen)
    assert facts.width is None or facts.width in WIDTHS
    assert facts.max_container is None or facts.max_container >= 0
    labels = labelling(node_view, seen, NOTHING, InUse()).labels
    assert labels.keys() <= {
        names.NODE, names.THREADS_PER_CORE, names.MAX_CONTAINER_CPUS, names.MAX_POD_CPUS,
    }  # fmt: skip
    assert all(key == names.NODE or _LABEL.fullmatch(text) for key, text in labels.items())


def dump(data: bytes) -> None:
    """Read a dump of a cluster: a snapshot, and a report without anything unprintable."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    collect([value])
    shown = render(report(objects_of([value]), Policy(), NOW), colour=False)
    assert all(line.isprintable() for line in shown.split("\n"))


def kubeconfig(data: bytes) -> None:
    """Read a kubeconfig: NoConfiguration in few words and without its token, or a server."""
    if any(word in data for word in (b"exec", b"auth-provider", b"cmd", b"!!python")):
        return  # such a file may run commands: kubectl does so, too
    with TemporaryDirectory() as directory:
        file = Path(directory, "config")
        file.write_bytes(data)
        try:
            assert load(str(file), environ={}).host is not None
        except NoConfiguration as error:
            _in_words(error, 1000)
            _says_no_token(error, data)


def _says_no_token(error: Exception, data: bytes) -> None:
    # As long as it is one: what was made a name of is told, as names are.
    if data.count(_UNSAID) == len(_A_TOKEN.findall(data)):
        assert _UNSAID.decode() not in str(error)


def head(data: bytes) -> None:
    """Split a head: what is taken for one has its parts where they are, and no body of ours."""
    found = head_of(data)
    if found is None:
        return
    assert found.size <= LONGEST_HEAD + 4
    assert data[: found.size].endswith(b"\r\n\r\n")
    assert 0 <= found.body < 10**9
    before, after = found.key
    assert data.startswith(before)
    assert data[: found.size - 4].endswith(after)


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "mutate": mutate,
    "quantity": quantity,
    "annotations": annotations,
    "policy": policy,
    "node-file": node_file,
    "message": message,
    "event": event,
    "failed-pod": failed_pod,
    "page": page,
    "topology": topology,
    "dump": dump,
    "kubeconfig": kubeconfig,
    "head": head,
}
