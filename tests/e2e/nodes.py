"""The nodes that tests may use, in groups, as a node file names them (nodes.yaml)."""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
import yaml

from evencore.domain import names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from e2e.api import Api, Object


class Nodes:
    """Nodes by group."""

    def __init__(self, file: Path, api: Api) -> None:
        self._file, self._api = file, api
        self._hosts: dict[str, list[str]] = defaultdict(list)
        self._names: dict[str, list[str]] = defaultdict(list)
        self._topologies: dict[str, dict[str, Object]] = defaultdict(dict)
        self._before: dict[str, Object] = {}
        for kind in yaml.safe_load(file.read_text())["nodes"]:
            self._take(kind)

    @property
    def all(self) -> list[str]:
        """The names of all nodes."""
        return list(self._before)

    def hosts(self, group: str) -> list[str]:
        """Return the host names of a group, or skip the test."""
        self._need(group)
        return self._hosts[group]

    def names(self, group: str) -> list[str]:
        """Return the names of the nodes of a group, or skip the test."""
        self._need(group)
        return self._names[group]

    def labels(self, node: str) -> dict[str, str]:
        """Return the labels of a node."""
        found: dict[str, str] = self._metadata(node)["labels"]
        return found

    @contextlib.contextmanager
    def told(self, group: str) -> Iterator[None]:
        """Tell the sizes of the NUMA nodes of a group, as an admin would."""
        self._need(group)
        for node, topology in self._topologies[group].items():
            self._change(node, annotations={names.NODE_TOPOLOGY: json.dumps(topology)})
        try:
            yield
        finally:
            for node in self._topologies[group]:
                self._change(node, annotations={names.NODE_TOPOLOGY: None})

    def restore(self) -> None:
        """Take off what controllers have written since the tests began."""
        for node, before in self._before.items():
            now = self._metadata(node)
            change = {
                part: {
                    key: (before.get(part) or {}).get(key)
                    for key in now.get(part) or {}
                    if key.startswith(names.PREFIX)
                }
                for part in ("labels", "annotations")
            }
            self._change(node, **change)

    def _take(self, kind: Object) -> None:
        count, group = kind.get("count", 1), kind["labels"]["e2e"]
        for number in range(1, count + 1):
            name = kind["name"] if count == 1 else f"{kind['name']}-{number}"
            self._before[name] = self._metadata(name)
            self._names[group].append(name)
            self._hosts[group].append(self._before[name]["labels"]["kubernetes.io/hostname"])
            if "e2e-numa" in kind["labels"]:
                self._topologies[group][name] = _topology(kind)

    def _need(self, group: str) -> None:
        if group not in self._names:
            pytest.skip(f"no node in {self._file} has the label e2e: {group}")

    def _metadata(self, node: str) -> Object:
        found: Object = self._api.get(f"/api/v1/nodes/{node}")["metadata"]
        return found

    def _change(self, node: str, **change: dict[str, str | None]) -> None:
        self._api.merge(f"/api/v1/nodes/{node}", {"metadata": change})


def _topology(kind: Object) -> Object:
    """Return what an admin may write of nodes of this kind (annotation evencore.io/topology)."""
    return {
        "policy": kind["kubelet"]["topologyManagerPolicy"],
        "fullPcpusOnly": True,
        "threadsPerCore": 2,
        "numa": [int(cpus) for cpus in kind["labels"]["e2e-numa"].split(".")],
    }
