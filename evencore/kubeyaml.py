"""YAML as kubectl reads it (sigs.k8s.io/yaml, its goyaml.v2/resolve.go), with exact numbers.

PyYAML reads YAML 1.1 otherwise than kubectl does: 1:30 is 90 to it, 010.5 a float, a date an
object. So only its scanner and parser (libyaml) are used here; what a plain scalar means follows
kubectl. A number with a fraction or an exponent keeps its text: as a binary float 4.001 is not
4.001. Where kubectl reads such a number, we read text; nothing else differs.

No I/O here: text in, values out. Nothing recurses, so no document is too deep for us.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import yaml
from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ALIASED: Final = 100_000
"""Values that the aliases of one document may stand for. Real manifests have tens."""


class YamlError(ValueError):
    """Text that is no YAML, or that kubectl would not take; line and column count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.problem = problem
        self.line = line
        self.column = column


class Read(NamedTuple):
    """One document of a text, and the line on which it begins."""

    value: object
    line: int


def read_yaml(text: str) -> Iterator[Read]:
    """Yield the documents of a text; an empty one is None.

    Raises YamlError at the first mistake, also for keys that are no scalars, for an alias within
    its own anchor, and for aliases that stand for more than MOST_ALIASED values.
    """
    try:
        # The stubs do not know that parse takes the C loader and yields events.
        yield from _documents(cast("Iterator[Any]", yaml.parse(text, Loader=yaml.CSafeLoader)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "this is no YAML"
        where = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise YamlError(problem, *where) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else ""
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        raise YamlError(f"control characters are not allowed: {error.reason}", line, column) from (
            error
        )


class _Open(Struct):
    """A list or map whose end has not come yet."""

    value: list[Any] | dict[str, Any]
    anchor: str | None
    size: int = 1  # values in it, aliases counted as what they stand for
    key: str | None = None  # the key whose value comes next
    merges: bool = False  # that key is a plain <<


class _Document(Struct):
    """What is built while the events of one document come in."""

    line: int
    value: object = None
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[object, int]] = field(default_factory=dict)
    aliased: int = 0


def _documents(events: Iterator[Any]) -> Iterator[Read]:
    document = _Document(0)
    for event in events:
        kind = type(event)
        if kind is yaml.DocumentStartEvent:
            document = _Document(0)
        elif kind is yaml.DocumentEndEvent:
            yield Read(document.value, document.line)
        elif kind in _TAKE:
            # Not where its "---" stands: comments may come between.
            document.line = document.line or event.start_mark.line + 1
            _TAKE[kind](document, event)


def _take_scalar(document: _Document, event: Any) -> None:  # noqa: ANN401  PyYAML's events have no types
    value = _scalar(event)
    if event.anchor:
        document.anchors[event.anchor] = value, 1
    _put(document, value, 1, event)


def _take_end(document: _Document, event: Any) -> None:  # noqa: ANN401  PyYAML's events have no types
    done = document.stack.pop()
    if done.anchor:
        document.anchors[done.anchor] = done.value, done.size
    _put(document, done.value, done.size, event)


def _take_start(document: _Document, event: Any) -> None:  # noqa: ANN401  PyYAML's events have no types
    _refuse_as_key(document, event)
    value: list[Any] | dict[str, Any] = {} if type(event) is yaml.MappingStartEvent else []
    document.stack.append(_Open(value, event.anchor))


def _take_alias(document: _Document, event: Any) -> None:  # noqa: ANN401  PyYAML's events have no types
    if any(parent.anchor == event.anchor for parent in document.stack):
        raise _error(f"anchor {event.anchor!a} contains itself", event)
    if event.anchor not in document.anchors:
        raise _error(f"unknown anchor {event.anchor!a}", event)
    value, size = document.anchors[event.anchor]
    document.aliased += size
    if document.aliased > MOST_ALIASED:
        raise _error(f"aliases stand for more than {MOST_ALIASED} values", event)
    _put(document, value, size, event)


_TAKE = {
    yaml.ScalarEvent: _take_scalar,
    yaml.MappingStartEvent: _take_start,
    yaml.SequenceStartEvent: _take_start,
    yaml.MappingEndEvent: _take_end,
    yaml.SequenceEndEvent: _take_end,
    yaml.AliasEvent: _take_alias,
}


def _put(document: _Document, value: object, size: int, event: Any) -> None:  # noqa: ANN401  PyYAML's events have no types
    """Put a complete value where it belongs: into the list or map around it, or at the top."""
    if not document.stack:
        document.value = value
        return
    parent = document.stack[-1]
    parent.size += size
    if isinstance(parent.value, list):
        parent.value.append(value)
    elif parent.key is None:
        _refuse_as_key(document, event, value)
        parent.key, parent.merges = _key(value), _merges(event)
    else:
        if parent.merges:
            _merge(parent.value, value, event)
        else:
            parent.value[parent.key] = value
        parent.key = None


def _merges(event: Any) -> bool:  # noqa: ANN401  PyYAML's events have no types
    return type(event) is yaml.ScalarEvent and event.value == "<<" and bool(event.implicit[0])


def _merge(into: dict[str, Any], value: object, event: Any) -> None:  # noqa: ANN401  PyYAML's events have no types
    """Carry out `<<: *a` where it stands, as goyaml.v2 does: a later key wins over it."""
    sources = value if isinstance(value, list) else [value]
    for source in reversed(sources):  # of several, the first goes before the others
        if not isinstance(source, dict):
            raise _error("<< takes a map, or a list of maps", event)
        into.update(source)


def _refuse_as_key(document: _Document, event: Any, value: object = "") -> None:  # noqa: ANN401  PyYAML's events have no types
    parent = document.stack[-1] if document.stack else None
    if parent is None or not isinstance(parent.value, dict) or parent.key is not None:
        return
    if type(event) in (yaml.MappingStartEvent, yaml.SequenceStartEvent):
        raise _error("a key must be text, not a map or a list", event)
    if value is None or isinstance(value, dict | list):
        raise _error("a key must be text", event)


def _key(value: object) -> str:
    """Write a key as JSON needs it: sigs.k8s.io/yaml makes text of booleans and numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _error(problem: str, event: Any) -> YamlError:  # noqa: ANN401  PyYAML's events have no types
    return YamlError(problem, event.start_mark.line + 1, event.start_mark.column + 1)


_TAG = "tag:yaml.org,2002:"
_RESOLVED = frozenset({None, *(_TAG + name for name in ("bool", "int", "float", "null"))})


def _scalar(event: Any) -> object:  # noqa: ANN401  PyYAML's events have no types
    text: str = event.value
    if event.tag is None and not event.implicit[0]:  # quoted, or a block
        return text
    value = plain(text) if event.tag in _RESOLVED else text
    if event.tag is None or event.tag not in _RESOLVED:
        return value
    fits = {"bool": bool, "int": int, "float": int | str, "null": type(None)}
    wanted = event.tag.removeprefix(_TAG)
    exact = isinstance(value, fits[wanted]) and isinstance(value, bool) is (wanted == "bool")
    if not exact or (wanted == "float" and value == text and not _FLOAT.fullmatch(text)):
        raise _error(f"{text[:40]!a} is no !!{wanted}", event)
    return value


_WORDS: Final[dict[str, bool | None]] = {
    **{
        word: True
        for one in ("y", "yes", "true", "on")
        for word in (one, one.capitalize(), one.upper())
    },
    **{
        word: False
        for one in ("n", "no", "false", "off")
        for word in (one, one.capitalize(), one.upper())
    },
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
_FIRST = frozenset("+-.0123456789")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")
# strconv.ParseInt(text, 0, 64), after goyaml took the underscores out.
_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MOST_DIGITS = 1000  # Python refuses to read much longer ones; no quantity has more than 64


def plain(text: str) -> bool | int | str | None:
    """Read a plain scalar: true, y, on → True; 010 → 8; 1_000 → 1000; 2.5, 1:30, a date → text."""
    if text in _WORDS:
        return _WORDS[text]
    # Bool and null apart, only what begins like a number is anything but text.
    if text[0] not in _FIRST or _DATE.fullmatch(text):
        return text
    if text[0] == ".":
        return text
    digits = text.replace("_", "")
    match = _INTEGER.fullmatch(digits) if len(digits) < _MOST_DIGITS else None
    if match is not None:
        sign, number = match.groups()
        if number[0] == "0" and number[1:].isdigit():
            number = f"0o{number[1:]}"  # Python wants the o that Go can do without
        return int(sign + number, 0)
    return digits if _FLOAT.fullmatch(digits) else text
