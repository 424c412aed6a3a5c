"""One pod as it is now, read from the API server before it is written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from evencore.domain.views import PodView, read
from evencore.kube.errors import KubeError, NotFound
from evencore.kube.outcome import Gone, Later
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from controller.views import LiveMetadata
    from evencore.kube.client import Client

RETRY_S: Final = 1.0


class Fresh(NamedTuple):
    """A pod, and how to write to it in exactly this version."""

    pod: PodView
    ref: Ref


def read_pod(client: Client, meta: LiveMetadata) -> Fresh | Gone | Later:
    """Read a pod that was seen with this metadata; Gone if another has its name by now."""
    try:
        reply = client.get(f"/api/v1/namespaces/{meta.namespace}/pods/{meta.name}")
        try:
            body = reply.read()
        finally:
            reply.close()
        value = msgspec.json.decode(body)
        version = msgspec.convert(value, _Versioned).metadata.resource_version
    except NotFound as error:
        return Gone(str(error))
    except KubeError as error:
        return Later(error.retry_after or RETRY_S, str(error))
    except msgspec.MsgspecError as error:
        return Later(RETRY_S, f"{meta.namespace}/{meta.name} cannot be read: {error}")
    pod = read(PodView, value)[0]
    if pod.meta.uid != meta.uid:
        return Gone("another pod has its name")
    return Fresh(pod, Ref(meta.namespace, meta.name, meta.uid, version))


class _Version(msgspec.Struct, rename="camel"):
    resource_version: str


class _Versioned(msgspec.Struct):
    metadata: _Version
