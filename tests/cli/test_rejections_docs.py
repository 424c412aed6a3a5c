"""docs/rejections.md shows what `evencore rejections` really prints, and names every key."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import namespace, pod
from cli.rejecting import Event, Fake, held, nodes, refused, takes_part

PAGE = (Path(__file__).parents[2] / "docs/rejections.md").read_text()


def scene() -> Fake:
    web = [
        refused(name, number).rejected(name, ago=timedelta(seconds=ago))
        for number, (name, ago) in enumerate([("n1", 130), ("n1", 90), ("n2", 12), ("n3", 4)])
    ]
    waiting = [held(number, timedelta(seconds=3 + number)) for number in range(2)]
    train = refused("n1", 9).cpu("24").metadata(namespace="ml", uid="train")
    (reference,) = train.obj["metadata"]["ownerReferences"]
    reference.update(kind="Job", apiVersion="batch/v1", name="train", uid="job-1")
    db = Event("TopologyAffinityError", kind="Pod", name="db-0", uid="u1", namespace="data")
    solo = pod("solo").rejected("n2", ago=timedelta(hours=5)).metadata(namespace="apps", uid="s")
    return Fake(
        *nodes("n1", "n2", "n3"),
        *(takes_part(name) for name in ("apps", "ml")),
        namespace("data"),
        *web,
        *waiting,
        train,
        db.by("kubelet", "n2"),
        solo,
    )


def block(command: str) -> str:
    """Return what the page shows below a command."""
    return PAGE.partition(f"$ {command}\n")[2].partition("```")[0]


@pytest.mark.parametrize(
    "args", [(), ("--pods", "-n", "apps"), ("--delete-rejected", "--node", "n1")], ids=" ".join
)
def test_the_page_shows_what_is_printed(args: tuple[str, ...]) -> None:
    assert block(" ".join(("evencore rejections", *args))) == scene().run(*args).stdout


def keys(value: Any) -> set[str]:  # noqa: ANN401  any JSON
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys(item)}
    return set()


def test_every_key_for_machines_is_on_the_page() -> None:
    found = keys(scene().report()) | keys(scene().report("--pods"))
    named = {"n1", "n2", "n3", "TopologyAffinityError"}  # of nodes and reasons: maps
    told = set(re.findall(r"`\.?(\w+)(?:\[\])?`", PAGE))
    assert sorted(found - named - told) == []
