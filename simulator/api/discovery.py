"""Discovery: which groups, versions and resources there are, in both shapes.

For: /api, /apis and below, and the aggregated documents that kubectl asks for first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.resources import SCALE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object
    from simulator.resources import Resource

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)
_CREATE_ONLY: Final = ("create",)
_SUB_VERBS: Final = ("get", "patch", "update")
# Subresources with a kind of their own: group, version, kind.
_SUB_KINDS: Final = {
    "scale": ("autoscaling", "v1", "Scale"),
    "eviction": ("policy", "v1", "Eviction"),
    "binding": ("", "v1", "Binding"),
}


class Discovery:
    """Answers what there is."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._groups: dict[str, dict[str, list[Resource]]] = {}
        for one in resources:
            self._groups.setdefault(one.group, {}).setdefault(one.version, []).append(one)

    def answer(self, path: str, *, aggregated: bool) -> Object | None:
        """Give the document at a path; None: there is none."""
        parts = [part for part in path.split("/") if part]
        if parts == ["api"]:
            return self._aggregated([""]) if aggregated else _core_versions()
        if parts == ["apis"]:
            named = [group for group in self._groups if group]
            return self._aggregated(named) if aggregated else self._group_list(named)
        if parts[:1] == ["apis"] and len(parts) == 2 and parts[1] in self._groups:  # noqa: PLR2004  apis, group
            return {"kind": "APIGroup", "apiVersion": "v1", **self._group(parts[1])}
        group, version = ("", parts[1:]) if parts[0] == "api" else (parts[1], parts[2:])
        if len(version) == 1 and version[0] in self._groups.get(group, {}):
            return self._resource_list(group, version[0])
        return None

    def _group_list(self, groups: Iterable[str]) -> Object:
        return {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [self._group(group) for group in groups],
        }

    def _group(self, group: str) -> Object:
        versions = [
            {"groupVersion": f"{group}/{version}", "version": version}
            for version in self._groups[group]
        ]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}

    def _resource_list(self, group: str, version: str) -> Object:
        found: list[Object] = []
        for one in self._groups[group][version]:
            entry: dict[str, Any] = {
                "name": one.plural,
                "singularName": one.singular,
                "namespaced": one.namespaced,
                "kind": one.kind,
                "verbs": _verbs(one),
            }
            if one.short_names:
                entry["shortNames"] = one.short_names
            if one.categories:
                entry["categories"] = one.categories
            found.append(entry)
            found += [_subresource(one, name) for name in one.subresources]
        named = f"{group}/{version}" if group else version
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": named,
            "resources": found,
        }

    def _aggregated(self, groups: Iterable[str]) -> Object:
        items = [
            {
                "metadata": {"name": group, "creationTimestamp": None},
                "versions": [
                    {
                        "version": version,
                        "resources": [_described(one) for one in resources],
                        "freshness": "Current",
                    }
                    for version, resources in self._groups[group].items()
                ],
            }
            for group in groups
        ]
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }


def _core_versions() -> Object:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def _verbs(one: Resource) -> tuple[str, ...]:
    return _CREATE_ONLY if one.create_only else _VERBS


def _sub_kind(one: Resource, name: str) -> tuple[str, str, str]:
    return _SUB_KINDS.get(name, (one.group, one.version, one.kind))


def _sub_verbs(name: str) -> tuple[str, ...]:
    return _CREATE_ONLY if name in _SUB_KINDS and name != SCALE else _SUB_VERBS


def _subresource(one: Resource, name: str) -> Object:
    group, version, kind = _sub_kind(one, name)
    entry: Object = {
        "name": f"{one.plural}/{name}",
        "singularName": "",
        "namespaced": one.namespaced,
        "kind": kind,
        "verbs": _sub_verbs(name),
    }
    if name in _SUB_KINDS and group:
        entry |= {"group": group, "version": version}
    return entry


def _described(one: Resource) -> Object:
    entry: dict[str, Any] = {
        "resource": one.plural,
        "responseKind": {"group": one.group, "version": one.version, "kind": one.kind},
        "scope": "Namespaced" if one.namespaced else "Cluster",
        "singularResource": one.singular,
        "verbs": _verbs(one),
        "shortNames": one.short_names,
        "categories": one.categories,
    }
    if one.subresources:
        entry["subresources"] = [
            {
                "subresource": name,
                "responseKind": dict(
                    zip(("group", "version", "kind"), _sub_kind(one, name), strict=True)
                ),
                "verbs": _sub_verbs(name),
            }
            for name in one.subresources
        ]
    return entry
