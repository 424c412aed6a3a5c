"""Warnings to a client, as the headers in which they travel.

Kubernetes: apiserver/pkg/endpoints/filters/warning.go (each text once; 4096 characters in all, else
each is cut to 256) and apimachinery's net.NewWarningHeader (no control characters, quoted).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_IN_ALL: Final = 4096
_LONGEST_THEN: Final = 256


def header(warnings: Iterable[str]) -> str:
    """Give the value of the Warning header; empty: there is nothing to say."""
    texts = [text for text in dict.fromkeys(warnings) if text and text.isprintable()]
    if sum(map(len, texts)) > _MOST_IN_ALL:
        texts = _cut(texts)
    told = ", ".join(f'299 - "{_escaped(text)}"' for text in texts)
    # Go writes UTF-8 as it is; a header is text of bytes here.
    return told.encode().decode("latin-1")


def _cut(texts: Iterable[str]) -> list[str]:
    kept, written = [], 0
    for text in texts:
        if written >= _MOST_IN_ALL:
            break
        kept.append(text[:_LONGEST_THEN])
        written += len(kept[-1])
    return kept


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
