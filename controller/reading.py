"""One pod as it is now, read from the API server before it is written to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

import msgspec

from evencore.domain.lenient import read
from evencore.domain.views import PodView
from evencore.kube.outcome import RETRY_S, Gone, Later
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from controller.views import LiveMetadata
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)

REFUSED_S: Final = 60.0
"""Until the next try after a refusal: somebody has to grant us something first."""


class Fresh(NamedTuple):
    """A pod, and how to write to it in exactly this version."""

    pod: PodView
    ref: Ref


def read_pod(writer: Writer, meta: LiveMetadata) -> Fresh | Gone | Later:
    """Read a pod that was seen with this metadata; Gone if another has its name by now."""
    namespace, name = quote(meta.namespace, ""), quote(meta.name, "")
    answer = writer.read(f"/api/v1/namespaces/{namespace}/pods/{name}")
    if isinstance(answer, Gone | Later):
        return answer
    if not isinstance(answer, bytes):
        _log.warning("%s/%s cannot be read: %s", meta.namespace, meta.name, answer.why)
        return Later(REFUSED_S, answer.why)
    try:
        value = msgspec.json.decode(answer)
        version = msgspec.convert(value, _Versioned).metadata.resource_version
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return Later(RETRY_S, f"{meta.namespace}/{meta.name} cannot be read: {error}")
    pod = read(PodView, value)[0]
    if pod.meta.uid != meta.uid:
        return Gone("another pod has its name")
    return Fresh(pod, Ref(meta.namespace, meta.name, meta.uid, version))


class _Version(msgspec.Struct, rename="camel"):
    resource_version: str


class _Versioned(msgspec.Struct):
    metadata: _Version
