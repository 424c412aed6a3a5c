"""Texts that no terminal, log or page may get as they are, and dumps that are full of them."""

from __future__ import annotations

from typing import Any, Final

FORGED: Final = "2026-03-01T10:42:00Z [error] all is lost"

TEXTS: Final = {
    "a line end": f"web\n{FORGED}",
    "a carriage return": f"web\r{FORGED}",
    "a colour that stays": "web\x1b[31m",
    "a screen that is cleared": "web\x1b[2J\x1b[H",
    "a window's title": "web\x1b]0;evil\x07",
    "a link": "web\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "an eight-bit control": "web\x9b2J",
    "a bell, a backspace and a delete": "web\a\b\x7f",
    "text from right to left": "web\u202egnp.exe\u2066",
    "a line separator": f"web\u2028{FORGED}\u2029",
    "a NUL": "web\x00",
    "what cannot be seen": "we\u200bb\ufeff",
    "a vertical tab and a form feed": "web\v\f\x85x",
}
"""Name → text. All begin like the harmless web."""


def harmless(text: str) -> bool:
    """Tell whether a text has nothing in it but printable characters and its own line ends."""
    return all(line.isprintable() for line in text.split("\n")) and not any(
        line.startswith(FORGED[:20]) for line in text.split("\n")
    )


ALL: Final = f"web\n{FORGED}\r\x1b[2J\x1b]0;evil\x07\x9b2J\x00\b\x7f\u202e\u2028\u200bend"
"""All of it in one text."""


def texts_in(value: Any) -> set[str]:  # noqa: ANN401  any JSON
    """Return every string that a value has somewhere, also as a key that is no field's."""
    if isinstance(value, dict):
        keys = {key for key in value if "/" in key}
        return keys.union(*map(texts_in, value.values()))
    if isinstance(value, list):
        return {text for inner in value for text in texts_in(inner)}
    return {value} if isinstance(value, str) else set()


def renamed(value: Any, old: str, new: str) -> Any:  # noqa: ANN401  any JSON
    """Return a value in which one text is another everywhere: what belongs together still does."""
    if isinstance(value, dict):
        return {renamed(key, old, new): renamed(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, old, new) for inner in value]
    return new if value == old else value
