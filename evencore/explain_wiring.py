"""`evencore explain`, put together: it is handed the way to a cluster.

By itself, not in `admin`: who explains manifests with files needs no API client.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

from evencore.explain_command import make_explain_command
from evencore.files import InputError


def _read_cluster(kubeconfig: str | None, context: str | None) -> list[dict[str, Any]]:
    """Read once what decisions look at. Raises InputError, as for a file that cannot be read."""
    from evencore.kube.client import connect
    from evencore.kube.dump import dump
    from evencore.kube.errors import KubeError

    try:
        with closing(connect(kubeconfig, context)) as client:
            return list(dump(client))
    except KubeError as error:
        raise InputError([str(error)]) from error


COMMAND: Final = make_explain_command(_read_cluster)
