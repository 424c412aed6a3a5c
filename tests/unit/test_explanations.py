"""explain never raises, whatever is in the documents, and its text keeps to its limits."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from evencore.domain.objects import Source
from evencore.domain.policy import Policy
from evencore.explain import Report, explain, prepare, render_text, to_dict
from evencore.patience import Patience

NOW = datetime(2026, 3, 1, 10, 40, tzinfo=UTC)


def explained(*documents: object, cluster: tuple[object, ...] = ()) -> Report:
    prepared = prepare([(Source("web.yaml"), d) for d in documents], cluster, "shop")
    return explain(prepared.manifests, Policy(), prepared.cluster.snapshot, NOW)


KEYS = {
    key
    for word in (
        "apiVersion.kind.metadata.name.namespace.uid.labels.annotations.ownerReferences.controller",
        "spec.template.jobTemplate.containers.initContainers.resources.requests.limits.cpu.memory",
        "nodeName.nodeSelector.affinity.items.status.phase.reason.type.max.min.default",
    )
    for key in word.split(".")
}
KINDS = ["Pod", "Deployment", "CronJob", "List", "PodList", "LimitRange", "Namespace", "Node"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.sampled_from(["", "2", "2500m", "x", "\x1b[2J", "enabled", *KINDS]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(KEYS)), inner, max_size=5)
    ),
    max_leaves=25,
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b"]) | VALUES},
    optional={"resources": st.fixed_dictionaries({"limits": VALUES}) | VALUES},
)
SPEC = st.fixed_dictionaries({"containers": st.lists(CONTAINER, min_size=1, max_size=2) | VALUES})
TEMPLATE = st.fixed_dictionaries({"spec": SPEC}, optional={"metadata": VALUES})
OBJECTS = st.fixed_dictionaries(
    {"kind": st.sampled_from(KINDS), "metadata": VALUES},
    optional={
        "spec": SPEC | st.fixed_dictionaries({"template": TEMPLATE}) | VALUES,
        "items": st.lists(TEMPLATE | VALUES, max_size=2),
    },
)


@given(st.lists(OBJECTS | VALUES, max_size=3), st.lists(OBJECTS | VALUES, max_size=3))
def test_nothing_in_a_document_is_too_odd(documents: list[Any], cluster: list[Any]) -> None:
    report = explained(*documents, cluster=tuple(cluster))
    text = render_text(report, colour=False)
    assert all(len(line) <= 100 for line in text.splitlines())
    assert all(line.isprintable() for line in text.splitlines())
    machine = to_dict(report)
    assert json.loads(json.dumps(machine)) == machine
    assert yaml.safe_load(yaml.dump(machine, Dumper=yaml.CSafeDumper)) == machine


def long_pod() -> dict[str, Any]:
    name = "a-name-that-is-as-long-as-kubernetes-allows" * 5
    amounts = {"limits": {"cpu": "2500m", "memory": "1Gi"}}
    containers = [{"name": name[:63], "resources": amounts}]
    return {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}


def test_long_names_are_wrapped() -> None:
    text = render_text(explained(long_pod()), colour=False)
    assert max(len(line) for line in text.splitlines()) <= 100


def test_colour_changes_nothing_but_the_colour() -> None:
    report = explained(long_pod())
    coloured = render_text(report, colour=True)
    assert "\x1b[33mchanged\x1b[0m" in coloured
    for code in ("0", "1", "33"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == render_text(report, colour=False)


def test_who_waits_is_told_what_is_done_and_nobody_else() -> None:
    told: list[str] = []
    with Patience(told.append) as patience:
        patience.reading("small.json", 1000)
    assert told == []
    with Patience(told.append) as patience:
        patience.reading("large.json", 200_000_000)  # parsing it lets no timer run
    assert told == ["reading large.json (200 MB) …"]
    told.clear()
    with Patience(told.append, after_s=0) as patience:
        patience.timer.join()
        patience.doing("explaining")
    assert told == ["explaining …"]
