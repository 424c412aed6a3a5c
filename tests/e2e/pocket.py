"""A pocket cluster as a process of its own, for tests that also break it.

As `evencore cluster up`, and it does what it reads: "restart NODE" restarts that node's kubelet.
Each line of input is answered by one line of output. It ends with its input.
"""

import argparse
import sys
from pathlib import Path

from simulator.cluster import Cluster
from simulator.controllers.bucket import TokenBucket
from simulator.kubelet.presets import load


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", required=True)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    asked = parser.parse_args()
    # A controller manager that has been busy for a while: between a rejection and the next create
    # are 50 to 150 ms, as was measured. Ours has the watch inside, and would be faster than a watch
    # over the wire as long as it has writes saved up.
    TokenBucket.burst = 1.0
    with Cluster(load(asked.nodes)) as cluster:
        asked.kubeconfig.write_text(cluster.server.kubeconfig())
        print("up", flush=True)  # noqa: T201  the answer that our parent waits for
        for line in sys.stdin:
            _, node = line.split()
            cluster.server.call(cluster.kubelet(node).restart)
            print("done", flush=True)  # noqa: T201  as above


if __name__ == "__main__":
    main()
