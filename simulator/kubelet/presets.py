"""Where node files come from: the disk, or the pocket cluster itself.

For: `load` and `PRESETS`. Not for: what a node file may say; that is `files`.
"""

from __future__ import annotations

from typing import Final

from evencore.files import InputError, read_document
from evencore.nodefiles.files import NodesFile, nodes_file
from evencore.strict import FileError


def load(file: str) -> NodesFile:
    """Read a node file, YAML or JSON. Raises FileError with everything that is wrong."""
    try:
        document = read_document(file, "a node file")
    except InputError as error:
        problems = [problem.removeprefix(f"{file}: ") for problem in error.problems]
        raise FileError(file, problems) from error
    return nodes_file(document.value, file)


_AUTOKH: Final = {
    "name": "autokh",
    "count": 2,
    "machine": {"sockets": 2, "coresPerSocket": 12, "memory": "192Gi"},
    "kubelet": {
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": {"full-pcpus-only": True},
        "topologyManagerPolicy": "single-numa-node",
        "reservedSystemCPUs": "0,24",
    },
}
"""Two nodes of 2 sockets, 24 cores, 48 CPUs: the even CPUs are one NUMA node, the odd the other."""

PRESETS: Final = {"autokh": nodes_file({"nodes": [_AUTOKH]}, "preset autokh")}
"""Node files that come with the pocket cluster."""
