"""Before anything is measured: every server gives the same answer to the same review."""

import base64
import http.client
import json
import ssl
from typing import Any

import jsonpatch

from .certificate import client_context
from .errors import BenchError
from .reviews import EXPECTED_CPU, bodies
from .servers import Place, Server

ANNOTATIONS = ("evencore.io/original-cpu", "evencore.io/decision")


def operations_of(server: Server, place: Place, sizes: list[int]) -> int:
    """Return how many patch operations `server` answers one review of each size with.

    Raises BenchError if an answer, applied to the pod, gives other CPUs than it must, lacks an
    annotation, or comes to another number of operations for another size.
    """
    context = client_context(place.certificate.certificate)
    counts = {size: _check(server, context, size) for size in sizes}
    if len(set(counts.values())) != 1:
        raise _wrong(server, f"patch operations differ by size of the review: {counts}")
    return counts[sizes[0]]


def cpus_of(pod: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return container name -> (request, limit) of CPU."""
    spec = pod["spec"]
    return {
        c["name"]: (c["resources"]["requests"]["cpu"], c["resources"]["limits"]["cpu"])
        for c in [*spec["initContainers"], *spec["containers"]]
    }


def _check(server: Server, context: ssl.SSLContext, size: int) -> int:
    """Send one review and compare; return the number of operations."""
    [(uid, body)] = bodies(size, variants=1)
    status, answer = _post(server, context, body)
    if status != http.HTTPStatus.OK:
        raise _wrong(server, f"status {status}: {answer[:300]!r}")
    try:
        response = json.loads(answer)["response"]
        patch = json.loads(base64.b64decode(response["patch"]))
    except (ValueError, KeyError) as error:
        raise _wrong(server, f"no patch in the answer ({error!r}): {answer[:600]!r}") from error
    if response["uid"] != uid or not response["allowed"]:
        raise _wrong(server, f"not allowed, or the uid of another: {answer[:300]!r}")
    pod = jsonpatch.apply_patch(json.loads(body)["request"]["object"], patch)
    want = {name: (cpu, cpu) for name, cpu in EXPECTED_CPU.items()}
    if (got := cpus_of(pod)) != want:
        raise _wrong(server, f"CPUs (request, limit) are {got}, must be {want}")
    missing = [name for name in ANNOTATIONS if name not in pod["metadata"]["annotations"]]
    if missing:
        raise _wrong(server, f"annotations missing: {', '.join(missing)}")
    return len(patch)


def _post(server: Server, context: ssl.SSLContext, body: bytes) -> tuple[int, bytes]:
    """Send one review over a connection of its own."""
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=10, context=context)
    try:
        connection.request("POST", "/mutate", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        raise _wrong(server, f"no answer: {error}") from error
    finally:
        connection.close()


def _wrong(server: Server, what: str) -> BenchError:
    return BenchError(
        f"{server.name} does not do the same job as the others, so nothing was measured. {what}"
    )
