"""Dashboard and alerts ask for metrics that exist, by the names under which they are published."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
from deployment.manifests import DEPLOY, Object, objects

from evencore.metrics import REGISTRY

DASHBOARD: Final[Object] = json.loads((DEPLOY / "dashboards" / "evencore.json").read_text())
_SUFFIXES: Final = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
}
PUBLISHED: Final = {
    metric.name: {metric.name + suffix for suffix in _SUFFIXES[metric.type]}
    for metric in REGISTRY.collect()
}
# Series without values have no labels to read but in the collectors of the library.
LABELS: Final = {
    *(n for one in REGISTRY._collector_to_names for n in getattr(one, "_labelnames", ())),  # noqa: SLF001  see above
    *(n for metric in REGISTRY.collect() for sample in metric.samples for n in sample.labels),
    "le",
}
_OF_SCRAPES: Final = {"pod"}


def _queries() -> list[str]:
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def _alerts() -> list[Object]:
    [rules] = [obj for obj in objects("monitoring") if obj["kind"] == "PrometheusRule"]
    return [alert for group in rules["spec"]["groups"] for alert in group["rules"]]


def _names(query: str) -> set[str]:
    return set(re.findall(r"\bevencore_[a-z_]+", query))


@pytest.mark.parametrize("query", _queries())
def test_a_query_of_the_dashboard_asks_for_what_there_is(query: str) -> None:
    assert _names(query), "each is about us"
    assert _names(query) <= set().union(*PUBLISHED.values())
    for labels in re.findall(r"by \(([a-z, ]+)\)", query):
        assert set(labels.split(", ")) <= LABELS | _OF_SCRAPES


def test_every_metric_is_on_the_dashboard() -> None:
    shown = set().union(*map(_names, _queries()))
    assert [name for name, published in PUBLISHED.items() if not shown & published] == []


def test_every_alert_asks_for_what_there_is_and_says_what_it_means() -> None:
    assert len(_alerts()) >= 4
    for alert in _alerts():
        assert _names(alert["expr"])
        assert _names(alert["expr"]) <= set().union(*PUBLISHED.values())
        assert alert["annotations"]["summary"].endswith(".")


def test_panels_lie_beside_each_other_and_have_a_description() -> None:
    cells = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        mine = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & mine
        cells |= mine
        assert panel["description"].endswith(".")
    assert max(x for x, _ in cells) < 24
