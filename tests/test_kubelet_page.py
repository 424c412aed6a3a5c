"""docs/kubelet.md is true: its example says what it says, and every file is in it."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/kubelet.md").read_text()


def test_the_worked_example_is_true() -> None:
    blocks = re.findall(r"^```pycon\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    told: list[str] = []
    example = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {}, "kubelet.md", "docs/kubelet.md", 0
    )
    result = doctest.DocTestRunner(verbose=False).run(example, out=told.append)
    assert "".join(told) == ""
    assert result.attempted > 10


def test_every_file_is_on_the_page() -> None:
    files = {file.name for file in (ROOT / "evencore/domain/kubelet").glob("*.py")}
    named = set(re.findall(r"`([a-z0-9_]+\.py)`", PAGE))
    assert files - {"__init__.py"} == named
