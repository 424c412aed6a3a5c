"""Which kind of file a document is: manifests, scenarios, node files and policies get mixed up.

For: one sentence that says so, instead of a complaint about each of its keys. Pure.
"""

from __future__ import annotations

from typing import Final

from evencore.domain.objects import text_at
from evencore.domain.policy import Policy
from evencore.domain.text import quoted
from evencore.domain.written import keys

_KEYS: Final[dict[str, set[str | None]]] = {
    "a scenario": {"steps", "for", "expect"},
    "a node file": {"nodes"},
    "a policy": set(keys(Policy)),
}
"""What files of people have at their top, and by which they are known."""


def kind_of(value: object, wanted: str) -> str | None:
    """Tell what a document is if it is certainly not what is wanted, one of the above."""
    kind = text_at(value, "kind")
    if kind and text_at(value, "apiVersion"):
        return f"a manifest (kind {quoted(kind)[1:-1]})"
    if not isinstance(value, dict):
        return None  # who checks it says what is needed
    found = [name for name, keys in _KEYS.items() if keys & value.keys()]
    return found[0] if found and wanted not in found else None
