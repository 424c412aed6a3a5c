"""The command line, as in a pod: `python -P in_pod.py DIRECTORY webhook …`.

A kubelet mounts the service account where nobody may write here, so the program is told of another
place. That is all: it runs in an environment that has no tests, nor what they need.
"""

import sys
from pathlib import Path

from evencore.__main__ import run
from evencore.kube import configuration

if __name__ == "__main__":
    configuration.SERVICE_ACCOUNT = Path(sys.argv.pop(1))
    run()
