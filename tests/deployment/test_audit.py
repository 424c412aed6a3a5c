"""`make audit`: what has holes, and what could not be asked about, are two different answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deployment.scripts import script

AUDIT = script("audit")
ASKED = {"click": "8.2.0", "flask": "3.1.0"}


def _told(*dependencies: dict[str, Any]) -> str:
    return json.dumps({"dependencies": dependencies, "fixes": []})


CLICK = {"name": "click", "version": "8.2.0", "vulns": []}
FLASK = {"name": "flask", "version": "3.1.0", "vulns": []}
HOLE = FLASK | {"vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.1"], "description": ""}]}
SKIPPED = {"name": "click", "skip_reason": "not found"}

ANSWERS: dict[str, tuple[str, int, str]] = {
    "nothing is known": (_told(CLICK, FLASK), 0, "nothing known against 2 packages"),
    "one has a hole": (_told(CLICK, HOLE), 1, "flask 3.1.0: PYSEC-1, mended in 3.1.1"),
    "a hole, and one was not asked about": (_told(SKIPPED, HOLE), 1, "asked about: click"),
    "one was passed over": (_told(SKIPPED, FLASK), 3, "could not be asked about: click"),
    "one is missing": (_told(FLASK), 3, "could not be asked about: click"),
    "no network": ("", 3, "could not be asked at all"),
    "an answer of another shape": ("[]", 3, "could not be asked at all"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_holes_and_silence_are_told_apart(name: str) -> None:
    answer, status, words = ANSWERS[name]
    got, lines = AUDIT.verdict(ASKED, answer)
    assert got == status
    assert words in "\n".join(lines)


def test_what_is_asked_about_is_what_goes_into_the_image() -> None:
    asked = AUDIT.closure("evencore")
    assert {"flask", "werkzeug", "gunicorn", "kubernetes", "urllib3", "msgspec"} <= asked.keys()
    assert not {"pytest", "hypothesis", "ruff", "kubernetes-validate", "atheris"} & asked.keys()
