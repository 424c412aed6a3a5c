"""JSON that differs in a few texts alone: encoded once, filled in often."""

import json
import re
from typing import Any

_GAP = re.compile(rb"<(\w+)>")

Object = dict[str, Any]


class Pattern:
    """An object with gaps, `<name>` within its texts. A gap's value must need no escaping."""

    def __init__(self, obj: Object) -> None:
        # As the API server encodes: no white space.
        text = json.dumps(obj, separators=(",", ":"), ensure_ascii=False)
        self._format = _GAP.sub(rb"%(\1)s", text.encode().replace(b"%", b"%%"))

    def fill(self, values: dict[bytes, bytes]) -> bytes:
        """Return the object with these in its gaps. Raises KeyError if one is missing."""
        return self._format % values
