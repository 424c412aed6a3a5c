"""Which tolerations cover a taint."""

from __future__ import annotations

from typing import Any

import pytest

from evencore.domain.taints import tolerates

TAINT = {"key": "a", "value": "b", "effect": "NoSchedule"}
TOLERATIONS = {
    "the same": ({"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}, True),
    "no operator": ({"key": "a", "value": "b"}, True),
    "another value": ({"key": "a", "value": "c"}, False),
    "any value": ({"key": "a", "operator": "Exists"}, True),
    "another effect": ({"key": "a", "operator": "Exists", "effect": "NoExecute"}, False),
    "everything": ({"operator": "Exists"}, True),
    "another key": ({"key": "c", "operator": "Exists"}, False),
    "nothing at all": ({}, False),
}


@pytest.mark.parametrize(("toleration", "want"), TOLERATIONS.values(), ids=TOLERATIONS)
def test_tolerations(toleration: dict[str, Any], want: bool) -> None:  # noqa: FBT001  a table
    assert tolerates(toleration, TAINT) is want
