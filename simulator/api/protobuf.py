"""Objects as protobuf, as far as kubectl insists on it: read, never written.

For: `kubectl create deployment`, `drain` and their like, which send nothing else. All answers are
JSON, which every client takes.
Not for: kinds and fields beyond the table; they are refused by name, never dropped.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from simulator.api.protobuf_fields import MESSAGES
from simulator.errors import ApiError, bad_request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.api.protobuf_fields import Field
    from simulator.objects import Object

MEDIA: Final = "application/vnd.kubernetes.protobuf"

_MAGIC: Final = b"k8s\0"
_VARINT, _BYTES = 0, 2
_SIGN, _WRAP = 1 << 63, 1 << 64


def read(body: bytes) -> Object:
    """Read an object in the envelope of Kubernetes. Raises 400, and 415 for what is not known."""
    if not body.startswith(_MAGIC):
        raise bad_request("the body of the request is no Kubernetes protobuf")
    try:
        envelope = dict(_fields(body[len(_MAGIC) :]))
        typed = dict(_fields(envelope.get(1, b"")))
        version, kind = typed.get(1, b"").decode(), typed.get(2, b"").decode()
        if kind not in MESSAGES:
            raise _unknown(f"the kind {version} {kind}")
        return {"kind": kind, "apiVersion": version, **_message(kind, envelope.get(2, b""))}
    except (IndexError, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise bad_request(f"the body of the request is broken protobuf: {error}") from error


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Iterate over number and value: an int for a varint, bytes for the rest."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        value, at = _varint(data, at)
        if tag & 7 == _BYTES:
            if at + value > len(data):
                raise IndexError("a field is longer than its message")
            yield tag >> 3, data[at : at + value]
            at += value
        elif tag & 7 == _VARINT:
            yield tag >> 3, value
        else:
            raise IndexError(f"wire type {tag & 7} is not used by Kubernetes")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _message(name: str, data: bytes) -> Object:
    known = MESSAGES[name]
    found: Object = {}
    for number, raw in _fields(data):
        if number not in known:
            raise _unknown(f"field {number} of {name}")
        field, type_ = known[number]
        if type_ == "-":
            continue
        if type_ in ("m", "d", "q"):
            found.setdefault(field, {}).update([_entry(raw, type_)])
        elif type_.endswith("*"):
            found.setdefault(field, []).append(_value(type_[:-1], raw))
        else:
            _set(found, (field, type_), raw)
    return found


def _set(found: Object, field: Field, raw: Any) -> None:  # noqa: ANN401  an int or bytes
    """Keep a value; Go writes the zero of every plain field, which stands for nothing."""
    name, type_ = field
    value = _value(type_.rstrip("?"), raw)
    if value or type_.endswith("?"):
        found[name] = value


def _value(type_: str, raw: Any) -> Any:  # noqa: ANN401  an int or bytes; any JSON value
    if type_ == "s":
        return raw.decode()
    if type_ == "b":
        return bool(raw)
    if type_ == "i":
        return raw - _WRAP if raw >= _SIGN else raw
    if type_ == "o":
        return _number_or_text(raw)
    return _message(type_, raw)


def _number_or_text(raw: bytes) -> int | str:
    """Read an IntOrString: which of the two it is, the number, the text."""
    parts = dict(_fields(raw))
    return parts.get(3, b"").decode() if parts.get(1) else int(parts.get(2, 0))


def _entry(raw: bytes, type_: str) -> tuple[str, str]:
    parts = dict(_fields(raw))
    value = parts.get(2, b"")
    if type_ == "d":
        return parts.get(1, b"").decode(), base64.b64encode(value).decode()
    if type_ == "q":
        value = dict(_fields(value)).get(1, b"")
    return parts.get(1, b"").decode(), value.decode()


def _unknown(what: str) -> ApiError:
    text = f"{what} cannot be read as {MEDIA} here: send it as JSON or YAML (kubectl apply -f)"
    return ApiError(415, "UnsupportedMediaType", text)
