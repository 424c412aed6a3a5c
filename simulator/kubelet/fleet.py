"""All kubelets of a cluster: made from node files, and told of the pods on their nodes.

One listener for all: a pod's change reaches one kubelet, however many nodes there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.kubelet.kubelet import Kubelet
from simulator.resources import PODS
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evencore.nodefiles.files import NodeFile
    from simulator.kubelet.voice import Site
    from simulator.store.table import Change


class Fleet:
    """Kubelets by the name of their node."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._kubelets: dict[str, Kubelet] = {}
        site.store.table(PODS).listen(self._note)

    def __getitem__(self, name: str) -> Kubelet:
        return self._kubelets[name]

    def run(self, files: Iterable[NodeFile]) -> None:
        """Start a kubelet for each node of some node files."""
        for file in files:
            for name in file.names():
                kubelet = Kubelet(self._site, name, len(self._kubelets) + 1, file)
                self._kubelets[name] = kubelet
                kubelet.start()

    def _note(self, change: Change) -> None:
        kubelet = self._kubelets.get(change.record.object["spec"].get("nodeName", ""))
        if kubelet is not None:
            kubelet.see(change.record.object, gone=change.type == DELETED)
