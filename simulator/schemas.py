"""The fields of Kubernetes' kinds: the schemas of the version whose behaviour this cluster has.

For: one source for OpenAPI, `kubectl explain` and the validation of fields.
Not for: what values mean. The schemas are files of the package kubernetes-validate, of which
nothing is imported; without it (it comes with the extra `cluster`) no kind has known fields.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object

# A minor version's schemas; its patch releases change descriptions at most.
_FILE: Final = "kubernetes_validate/kubernetes-json-schema/v1.36.0-local/_definitions.json"
_REFERENCE: Final = "#/$defs/"
_KINDS: Final = "x-kubernetes-group-version-kind"
# A schema of two types is one type with a format in OpenAPI, as the API server writes it.
_EITHER: Final[dict[str, Object]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "type": "string",
        "format": "int-or-string",
    },
}


@cache
def definitions() -> dict[str, Object]:
    """Give the schema of every type by its name; empty if there are none."""
    try:
        path = Path(str(distribution("kubernetes-validate").locate_file(_FILE)))
        found: dict[str, Object] = msgspec.json.decode(path.read_bytes())["$defs"]
    except (PackageNotFoundError, FileNotFoundError):
        return {}
    return found


@cache
def _names() -> dict[tuple[str, str, str], str]:
    return {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, schema in definitions().items()
        for kind in schema.get(_KINDS, ())
    }


def name_of(group: str, version: str, kind: str) -> str:
    """Give the name of a kind's schema; empty if there is none."""
    return _names().get((group, version, kind), "")


def referred(schema: Object) -> str:
    """Give the name of the type that a schema refers to; empty if it says all itself."""
    return str(schema.get("$ref", "")).removeprefix(_REFERENCE)


def openapi(names: Iterable[str], prefix: str) -> dict[str, Object]:
    """Give some types and all they refer to, as OpenAPI writes them; `prefix` of references."""
    found: dict[str, Object] = {}
    wanted = list(names)
    while wanted:
        name = wanted.pop()
        if name not in found:
            schema = definitions()[name]
            found[name] = _EITHER.get(name) or _written(schema, prefix, wanted)
    return found


def _written(schema: Any, prefix: str, wanted: list[str]) -> Any:  # noqa: ANN401  any JSON value
    """Write a schema: no nulls, which the files allow everywhere; note what is referred to."""
    if isinstance(schema, list):
        return [_written(one, prefix, wanted) for one in schema]
    if not isinstance(schema, dict):
        return schema
    written = {key: _written(one, prefix, wanted) for key, one in schema.items()}
    if isinstance(schema.get("type"), list):
        written["type"] = schema["type"][0]
    if isinstance(schema.get("$ref"), str):
        wanted.append(referred(schema))
        written["$ref"] = prefix + referred(schema)
    if _KINDS in schema:
        # The files pin apiVersion and kind to one value each; the API server does not.
        for part in ("apiVersion", "kind"):
            written["properties"][part].pop("enum", None)
    return written
