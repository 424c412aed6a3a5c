"""Label and field selectors, by tables."""

from __future__ import annotations

import pytest

from simulator.errors import ApiError
from simulator.resources import PODS
from simulator.selectors import Selector, of_label_selector, parse_fields, parse_labels

OBJECT = {
    "metadata": {"name": "p", "namespace": "n", "labels": {"app": "web", "tier": "", "a.b/c": "1"}},
    "spec": {"nodeName": "n1"},
    "status": {"phase": "Running"},
}

LABELS = {
    "": True,
    "app=web": True,
    "app==web": True,
    "app = web": True,
    "app=db": False,
    "app!=db": True,
    "app!=web": False,
    "absent!=x": True,
    "app": True,
    "!app": False,
    "absent": False,
    "!absent": True,
    "app in (db,web)": True,
    "app in (db, x)": False,
    "app notin (db)": True,
    "absent notin (db)": True,
    "app=web,a.b/c=1": True,
    "app in (web,db),tier=": True,
    "app=web,!a.b/c": False,
}


@pytest.mark.parametrize(("text", "want"), LABELS.items())
def test_label_selectors(text: str, want: bool) -> None:  # noqa: FBT001  a table's value
    assert Selector(labels=parse_labels(text)).matches(OBJECT) is want


@pytest.mark.parametrize("text", ["=", "a=b=c", "app in web", "a b", "app in (x", ",,", "a>1"])
def test_what_is_no_label_selector_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="label selector") as caught:
        parse_labels(text)
    assert caught.value.code == 400


FIELDS = {
    "": True,
    "metadata.name=p": True,
    "metadata.name!=p": False,
    "metadata.name=p,metadata.namespace=n": True,
    "spec.nodeName=n1": True,
    "spec.nodeName=": False,
    "spec.nodeName!=": True,
    "status.phase==Running": True,
    "status.phase!=Failed": True,
    "status.podIP=": True,
    "spec.hostNetwork=false": True,
    "spec.hostNetwork=true": False,
}


@pytest.mark.parametrize(("text", "want"), FIELDS.items())
def test_field_selectors(text: str, want: bool) -> None:  # noqa: FBT001  a table's value
    assert Selector(fields=parse_fields(text, PODS.selectable)).matches(OBJECT) is want


def test_a_field_that_cannot_be_selected_is_refused_by_name() -> None:
    with pytest.raises(ApiError, match=r"field label not supported: spec\.priority"):
        parse_fields("spec.priority=1", PODS.selectable)


def test_the_selector_of_a_workload() -> None:
    labels = OBJECT["metadata"]["labels"]
    expressions = [
        ({"key": "app", "operator": "In", "values": ["web"]}, True),
        ({"key": "app", "operator": "NotIn", "values": ["web"]}, False),
        ({"key": "app", "operator": "Exists"}, True),
        ({"key": "app", "operator": "DoesNotExist"}, False),
    ]
    for expression, want in expressions:
        selector = of_label_selector({"matchLabels": {}, "matchExpressions": [expression]})
        assert selector is not None
        assert all(one.holds(labels) for one in selector) is want  # type: ignore[arg-type]
    assert of_label_selector(None) is None
    assert of_label_selector({}) == ()
