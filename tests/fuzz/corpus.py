"""What fuzzing begins with: requests of a real API server, and one sound example of each kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import yaml
from builders import failed, node, node_topology, review

TESTS: Final = Path(__file__).parents[1]

_EVENT = {
    "metadata": {"name": "e1", "namespace": "shop", "resourceVersion": "7"},
    "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-0", "uid": "u1"},
    "reason": "SMTAlignmentError",
    "message": "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
    "source": {"component": "kubelet", "host": "n1"},
    "lastTimestamp": "2026-03-01T10:40:00Z",
    "series": {"count": 2, "lastObservedTime": "2026-03-01T10:40:00.5Z"},
}
_FAILED = failed("n1").rejected("n1").obj
_NODE = node("n1").named().width(2).topology(numa=[22, 24], policy="single-numa-node").obj
_SEEN = node_topology("n1").numa("22", "24").attribute("topologyManagerScope", "pod").obj
_KUBECONFIG = {
    "current-context": "one",
    "clusters": [{"name": "one", "cluster": {"server": "https://127.0.0.1:6443"}}],
    "users": [{"name": "me", "user": {"token": "s3cr3t-t0ken"}}],
    "contexts": [{"name": "one", "context": {"cluster": "one", "user": "me"}}],
}
_LIST = {"kind": "List", "metadata": {"resourceVersion": "1"}, "items": [_FAILED, _EVENT, _NODE]}


def seeds(target: str) -> list[bytes]:
    """Return what a target begins with."""
    return [text if isinstance(text, bytes) else text.encode() for text in _SEEDS[target]]


def _files(*patterns: str) -> list[bytes]:
    return [path.read_bytes() for one in patterns for path in sorted(TESTS.parent.glob(one))]


_SEEDS: Final[dict[str, list[bytes | str]]] = {
    "mutate": [
        *(path.read_bytes() for path in sorted((TESTS / "captures").glob("*.json"))),
        review(failed("n1").cpu("3").obj).body,
    ],
    "quantity": ["2", "2500m", "0.5", "1e3", "1Ki", "+3", "-1", "9007199254740993n", "1e999999999"],
    "annotations": [
        "evencore.io/cpu=round-up\nevencore.io/cpu.app=keep\nevencore.io/topology=off",
        "evencore.io/on-rejection=hold\nevencore.io/cpu.gone=\x00",
    ],
    "policy": [*_files("deploy/base/policy.yaml", "examples/*.yaml"), "cpu: deny\nroundFrom: 1"],
    "node-file": _files("tests/e2e/nodes.yaml", "examples/*.yaml"),
    "message": [
        "SMTAlignmentError\nrequested 3 cpus not multiple cpus per core = 2",
        "SMT Alignment Error\nnot enough free physical CPUs: CPUs per core = 2",
        "UnexpectedAdmissionError\nAllocate failed due to not enough cpus available",
        "OutOfnvidia.com/gpu\n",
    ],
    "event": [json.dumps({"type": "ADDED", "object": _EVENT})],
    "failed-pod": [json.dumps(_FAILED)],
    "page": [json.dumps(_LIST)],
    "topology": [json.dumps([_NODE, _SEEN])],
    "dump": [json.dumps(_LIST)],
    "kubeconfig": [json.dumps(_KUBECONFIG), yaml.safe_dump(_KUBECONFIG)],
    "head": [
        b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nAccept: */*\r\n\r\n{}",
        b"POST /mutate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
}
