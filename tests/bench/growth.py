"""How much more CPU the worst inputs cost when they are twice as large.

For: the worst that anybody has thought of; a ratio near 2 is fair, near 4 is an attack.
Not for: how long anything takes; that depends on the machine.
"""

from __future__ import annotations

import gc
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from admission import post
from builders import NOW, failed, node, pod, review, snapshot

from evencore.domain.collect import collect
from evencore.domain.ledger import Ledger
from evencore.domain.lenient import read
from evencore.domain.rejection import classify, rejection_of
from evencore.domain.verdict import excluded_in
from evencore.domain.views import FailedPodView
from evencore.kubeyaml import YamlError, read_yaml
from evencore.rejections.objects import objects_of
from evencore.rejections.report import report

if TYPE_CHECKING:
    from collections.abc import Callable

KNOWN: Final = snapshot(
    *(node(f"n{number}").named().width(2).largest(number).label("zone", number)
      for number in range(200))
)  # fmt: skip
Json = dict[str, Any]


def _container(number: int, cpu: object = "3") -> Json:
    resources = {"cpu": cpu, "memory": "1Gi"}
    return {"name": f"c{number}", "resources": {"requests": resources, "limits": resources}}


def _containers(number: int, cpu: object = "3", **more: object) -> list[Json]:
    return [{**_container(each, cpu), **more} for each in range(number)]


def _spec(**fields: object) -> bytes:
    return review(pod().cpu("3").spec(**fields)).body


def _meta(**fields: object) -> bytes:
    return review(pod().cpu("3").metadata(**fields)).body


_ZONE: Final = {"key": "zone", "operator": "In", "values": ["7"]}


def _terms(number: int) -> bytes:
    return review(pod().cpu("3").required(*[{"matchExpressions": [_ZONE]}] * number)).body


def _term(expressions: int, values: int) -> bytes:
    found = [{**_ZONE, "values": [str(value) for value in range(values)]}] * expressions
    return review(pod().cpu("3").required({"matchExpressions": found})).body


_NAME: Final = b'"name": "app-1"'


def _in_name(text: bytes) -> bytes:
    body = review(pod("app-1").cpu("3")).body
    assert _NAME in body
    return body.replace(_NAME, b'"name": "' + text + b'"', 1)


def _beside_name(text: bytes) -> bytes:
    body = review(pod("app-1").cpu("3")).body
    return body.replace(_NAME, text + _NAME, 1)


REVIEWS: Final[dict[str, tuple[int, Callable[[int], bytes]]]] = {
    "open brackets and nothing else": (4_000_000, lambda n: b"[" * n),
    "open brackets where a list may stand": (2_000_000, lambda n: _beside_name(b'"x":' + b"[" * n)),
    "lists in lists, closed": (900, lambda n: _beside_name(b'"x":' + b"[" * n + b"]" * n + b",")),
    "containers with odd CPUs": (1_500, lambda n: _spec(containers=_containers(n))),
    "containers with an exponent of a billion": (
        1_500, lambda n: _spec(containers=_containers(n, "1e999999999"))),
    "containers whose CPUs are all different": (
        1_500, lambda n: _spec(containers=[_container(i, f"{2 * i + 1}") for i in range(n)])),
    "init containers that stay": (
        1_500, lambda n: _spec(initContainers=_containers(n, restartPolicy="Always"))),
    "containers of one name": (
        1_500, lambda n: _spec(containers=[_container(0) for _ in range(n)])),
    "containers of a wrong type": (10_000, lambda n: _spec(containers=[7] * n)),
    "an amount of many digits": (2_000_000, lambda n: _spec(containers=[_container(0, "9" * n)])),
    "a number of many digits": (
        1_000_000, lambda n: _beside_name(b'"generation":' + b"9" * n + b",")),
    "annotations that we do not know": (
        20_000, lambda n: _meta(annotations={f"evencore.io/{i}": "x" for i in range(n)})),
    "an annotation for each container": (
        1_500, lambda n: review(
            pod().containers().spec(containers=_containers(n)).metadata(
                annotations={f"evencore.io/cpu.c{i}": "keep" for i in range(n)})).body),
    "owners": (20_000, lambda n: _meta(ownerReferences=[{"kind": "X", "uid": "u"}] * n)),
    "scheduling gates": (40_000, lambda n: _spec(schedulingGates=[{"name": "a"}] * n)),
    "node selectors": (20_000, lambda n: _spec(nodeSelector={f"k{i}": "v" for i in range(n)})),
    "terms of a node affinity": (4_000, _terms),
    "expressions of one term": (2_000, lambda n: _term(n, 1)),
    "values of one expression": (40_000, lambda n: _term(1, n)),
    "a long name": (2_000_000, lambda n: _in_name(b"x" * n)),
    "a name of control characters": (300_000, lambda n: _in_name(b"\\u001b" * n)),
    "a name of NULs and bidirectional marks": (200_000, lambda n: _in_name(b"\\u0000\\u202e" * n)),
    "one key many times": (100_000, lambda n: _beside_name(b'"name":"x",' * n)),
    "objects in an unknown field": (
        100_000, lambda n: _beside_name(b'"x":[' + b"{}," * n + b"{}],")),
}  # fmt: skip
"""Name → a size that takes a few hundredths of a second, and the body of that size."""


def _dump(number: int) -> list[Json]:
    return [failed("n1", "rs-1", each).rejected("n1").obj for each in range(number)]


def _ledger(number: int) -> None:
    ledger = Ledger()
    for each in range(number):
        obj = failed("n1", "rs-1", each).rejected("n1", ago=timedelta(milliseconds=each)).obj
        rejection = rejection_of(read(FailedPodView, obj)[0])
        assert rejection is not None
        ledger.pod(rejection, NOW)
        ledger.of(rejection.owner, NOW)


def _yaml(text: str) -> None:
    try:
        list(read_yaml(text))
    except YamlError:
        return


OTHERS: Final[dict[str, tuple[int, Callable[[int], Any], Callable[[Any], object]]]] = {
    "a kubelet's message that nearly matches": (
        100_000, lambda n: "requested 1 cpus not multiple " * n,
        lambda text: classify("SMTAlignmentError", text)),
    "a decision that begins to match again and again": (
        100_000, lambda n: "not on a" * n + "." * n, excluded_in),
    "rejections of one owner, the newest first": (400, lambda n: n, _ledger),
    "a dump of rejections": (300, _dump, collect),
    "a report of rejections": (
        200, _dump, lambda objects: report(objects_of(objects), _policy(), NOW)),
    "YAML: aliases of aliases": (
        300, lambda n: "a0: &a0 [x]\n" + "".join(
            f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(n)), _yaml),
    "YAML: anchors": (3_000, lambda n: "".join(f"k{i}: &a{i} v\n" for i in range(n)), _yaml),
    "YAML: lists in lists": (2_000, lambda n: "[" * n, _yaml),
    "YAML: one long plain word": (200_000, lambda n: "a: " + "x" * n, _yaml),
    "YAML: quotes and escapes": (40_000, lambda n: 'a: "' + "\\x00\\u2028" * n, _yaml),
    "YAML: documents": (2_000, lambda n: "---\n" * n, _yaml),
}  # fmt: skip
"""Name → a size, the input of that size, and what reads it."""


def _policy() -> Any:  # noqa: ANN401  imported late: it takes longest
    from evencore.domain.policy import Policy  # noqa: PLC0415

    return Policy()


def _mutate(body: bytes) -> object:
    return post(body, KNOWN)


CASES: Final[dict[str, tuple[int, Callable[[int], Any], Callable[[Any], object]]]] = {
    **{name: (size, make, _mutate) for name, (size, make) in REVIEWS.items()},
    **OTHERS,
}


def cpu_s(run: Callable[[Any], object], value: object, times: int = 3) -> float:
    """Return the CPU seconds of the quickest of a few runs: what is added is somebody else's."""
    found = []
    gc.disable()  # it goes through all there is, whoever made it
    try:
        for _ in range(times):
            begin = time.process_time()
            run(value)
            found.append(time.process_time() - begin)
    finally:
        gc.enable()
    return min(found)


def growth(name: str, times: int = 3) -> tuple[float, float]:
    """Return the CPU seconds at the size of a case, and by how much twice the size costs more."""
    size, make, run = CASES[name]
    once, twice = make(size), make(2 * size)
    run(once)  # caches of the first call
    first = cpu_s(run, once, times)
    return first, cpu_s(run, twice, times) / max(first, 1e-6)


def main() -> None:
    """Print all of them, the worst first."""
    found = {name: growth(name) for name in CASES}
    for name, (seconds, ratio) in sorted(found.items(), key=lambda one: -one[1][1]):
        size = CASES[name][0]
        print(f"{ratio:5.2f} x  {seconds * 1000:8.1f} ms at {size:>9}  {name}")  # noqa: T201  its purpose


if __name__ == "__main__":
    main()
