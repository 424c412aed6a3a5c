"""Heads of requests that were read once and mean the same when they come again.

An API server sends the same head with every admission, but for the length of the body. Reading it
costs as much as the decision, so one that gunicorn's parser has read and found harmless is known
from then on by its bytes. Not for: reading any other head, or judging one; gunicorn does that.
"""

from __future__ import annotations

from typing import NamedTuple

MOST_HEADS = 256
"""Kept at a time: each API server, webhook configuration and timeout makes one."""

LONGEST_HEAD = 4096
"""Bytes. A longer one is never kept; API servers send about 300."""

_END = b"\r\n\r\n"
_LENGTH = b"\r\nContent-Length: "
_MOST_DIGITS = 9  # more are no length of ours; int() would take its time with thousands

Key = tuple[bytes, bytes]


class Head(NamedTuple):
    """A head as it came."""

    key: Key  # what stands before and behind the digits of Content-Length
    size: int  # bytes, with the empty line
    body: int  # bytes, as announced


def head_of(data: bytes) -> Head | None:
    """Split what begins with a head that announces a length; None if there is none, or not yet."""
    end = data.find(_END, 0, LONGEST_HEAD)
    if end < 0:
        return None
    before, _, rest = data[:end].partition(_LENGTH)
    digits, _, after = rest.partition(b"\r\n")
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        return None
    return Head((before, after), end + len(_END), int(digits))


class Heads:
    """The heads that are known. For one event loop."""

    def __init__(self) -> None:
        self._known: set[Key] = set()

    def __contains__(self, head: Head) -> bool:
        """Tell whether it was read before, of whatever length its body was."""
        return head.key in self._known

    def learn(self, head: Head) -> None:
        """Keep a head. If there are too many, all are learnt anew: nobody needs so many."""
        if len(self._known) >= MOST_HEADS:
            self._known.clear()
        self._known.add(head.key)
