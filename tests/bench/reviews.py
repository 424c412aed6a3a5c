"""AdmissionReviews of a wanted size, made from one that a real API server sent.

Pods grow in many small steps, so padding does too: environment variables, volumes with their
mounts, annotations, and the managedFields entries that the API server keeps for each. One giant
string would flatter parsers that skip strings quickly.
"""

import json
import uuid
from bisect import bisect_right
from pathlib import Path
from typing import Any

CAPTURE = Path(__file__).parents[1] / "captures" / "04-create-gen-fraction.json"

SIZES = {"4.7": 4_700, "6": 6_000, "20": 20_000, "200": 200_000}
"""What people ask for, in KB of 1,000 bytes -> length of the body, in bytes."""

VARIANTS = 300
"""Different bodies per size: enough that a cache of answers or parsed parts would not pay."""

EXPECTED_CPU = {"init": "2", "proxy": "2", "app": "4"}
"""What 1500m, 100m and 2500m come to on cores of two threads."""

_GENERATE_NAME = b"gen-fraction-"
_VOLUME_SUFFIX = b"m98hr"
_STEP_BYTES = 100
"""Every step of growing adds more than this."""

_NOTE_BYTES = 32
"""Room for the annotation that makes up the last bytes, which are less than one step."""


def base_review() -> dict[str, Any]:
    """Return the recorded review: two init containers and one app container, all fractions."""
    review: dict[str, Any] = json.loads(CAPTURE.read_bytes())
    return review


def padded_review(size: int) -> dict[str, Any]:
    """Return the recorded review, grown to exactly `size` bytes of compact JSON.

    Raises ValueError if the recorded one is larger than that already.
    """
    smallest, room = _size_after(0), size - _NOTE_BYTES
    if room < smallest:
        raise ValueError(f"a review of {size} bytes: the recorded one has {smallest} already")
    steps = bisect_right(range(size // _STEP_BYTES), room, key=_size_after) - 1
    review = _grown(steps)
    annotations = review["request"]["object"]["metadata"]["annotations"]
    annotations["team.example/note"] = ""
    annotations["team.example/note"] = "x" * (size - len(_compact(review)))
    return review


def bodies(size: int, variants: int = VARIANTS) -> list[tuple[str, bytes]]:
    """Return `variants` different bodies of `size` bytes, each with its uid.

    Uid, pod name prefix and volume name differ; every replacement keeps the length.
    """
    review = padded_review(size)
    text = _compact(review)
    recorded = review["request"]["uid"].encode()
    made = []
    for number in range(variants):
        uid = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{size}/{number}"))
        body = text.replace(recorded, uid.encode())
        body = body.replace(_GENERATE_NAME, b"gen-%08d-" % number)
        body = body.replace(_VOLUME_SUFFIX, b"%05d" % number)
        made.append((uid, body))
    return made


def _compact(review: dict[str, Any]) -> bytes:
    """Encode as the API server does: no white space."""
    return json.dumps(review, separators=(",", ":")).encode()


def _grown(steps: int) -> dict[str, Any]:
    """Return the recorded review with `steps` things added to its pod."""
    review = base_review()
    for number in range(steps):
        _grow(review["request"]["object"], number)
    return review


def _size_after(steps: int) -> int:
    """Return the size of `_grown(steps)`, in bytes."""
    return len(_compact(_grown(steps)))


def _grow(pod: dict[str, Any], number: int) -> None:
    """Add one thing that real pods have many of: mostly variables, now and then the others."""
    spec, fields = pod["spec"], pod["metadata"]["managedFields"][0]["fieldsV1"]
    kinds = [("f:containers", spec["containers"]), ("f:initContainers", spec["initContainers"])]
    spots = [(kind, container) for kind, containers in kinds for container in containers]
    kind, container = spots[number % len(spots)]
    owned = fields["f:spec"][kind][f'k:{{"name":"{container["name"]}"}}']
    match number % 10:
        case 3:
            key = f"team.example/setting-{number}"
            pod["metadata"]["annotations"][key] = f"value of setting {number}, as somebody wrote it"
            fields["f:metadata"]["f:annotations"][f"f:{key}"] = {}
        case 7:
            name = f"config-{number}"
            spec["volumes"].append({"name": name, "configMap": {"name": name, "defaultMode": 420}})
            path = f"/etc/app/{name}"
            container["volumeMounts"].append({"name": name, "readOnly": True, "mountPath": path})
            mounts = owned.setdefault("f:volumeMounts", {".": {}})
            mounts[f'k:{{"mountPath":"{path}"}}'] = {".": {}, "f:mountPath": {}, "f:name": {}}
        case _:
            name = f"APP_SETTING_{number}"
            value = f"postgres://db-{number}.example:5432/app?pool={number}"
            container.setdefault("env", []).append({"name": name, "value": value})
            variables = owned.setdefault("f:env", {".": {}})
            variables[f'k:{{"name":"{name}"}}'] = {".": {}, "f:name": {}, "f:value": {}}
