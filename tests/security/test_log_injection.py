"""Whatever a field holds, a log line is one line and steers no terminal."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from typing import Final

import pytest
from security.hostile import TEXTS, harmless

# What reaches logs: fields and events of ours, messages of libraries, tracebacks.
PROGRAM: Final = """
import json, logging, sys
from evencore import logs
shape, texts = sys.argv[1], json.loads(sys.argv[2])
logs.set_up("debug", shape)
ours, library = logs.logger(), logging.getLogger("evencore.kube")
for text in texts:
    print("=====", file=sys.stderr, flush=True)
    ours.info("patched", pod=text, owner=f"ReplicaSet/{text}", warnings=(text, text))
    ours.warning(text)
    library.warning("%s is not read: %s", text, {"name": text})
    library.warning(text, extra={"name_of_it": text})
    try:
        raise ValueError(text)
    except ValueError as error:
        ours.error("failed", exc_info=error)
        library.exception("failed: %s", text)
"""


@functools.cache
def _log(shape: str) -> list[str]:
    """Return what is logged of each text; one process for all of them, for it takes a second."""
    texts = ["web", *TEXTS.values()]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, shape, json.dumps(texts)],
        capture_output=True,
        check=True,
        timeout=60,
    )
    nothing, *found = done.stderr.decode().split("=====\n")
    assert not nothing
    return found


LINES_OF_ONE: Final = 6


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=TEXTS)
def test_in_json_every_line_is_one_object_and_has_the_text(number: int) -> None:
    lines = _log("json")[number + 1].removesuffix("\n").split("\n")
    assert len(lines) == LINES_OF_ONE
    for line in lines:
        assert harmless(line), line
        assert [*TEXTS.values()][number] in "\0\0".join(map(str, json.loads(line).values()))


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=TEXTS)
def test_on_a_console_no_text_begins_a_line_or_steers_the_terminal(number: int) -> None:
    plain, *shown = _log("console")
    assert harmless(shown[number]), shown[number]
    begins = [line for line in shown[number].split("\n") if line.startswith("20")]
    assert len(begins) == LINES_OF_ONE
    if "\n" not in [*TEXTS.values()][number]:
        assert shown[number].count("\n") == plain.count("\n")
