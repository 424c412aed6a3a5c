"""What the parameters of rolling updates must be.

Kubernetes rules: ValidateDeploymentStrategy and ValidateRollingUpdateDaemonSet.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simulator.objects import dig
from simulator.resources import DAEMON_SETS, DEPLOYMENTS
from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object
    from simulator.resources import Resource

_NONE: Final = (None, 0, "0%")
_PERCENT: Final = re.compile(r"([0-9]+)%")
_TYPES: Final = ("Recreate", "RollingUpdate")
_PARTS: Final = ("maxUnavailable", "maxSurge")
_ROLLING: Final = "spec.strategy.rollingUpdate"


def check(resource: Resource, spec: Object) -> Iterator[Cause]:
    """Tell what is wrong with how a workload is updated; nothing for other kinds."""
    if resource is DEPLOYMENTS:
        yield from _of_deployment(spec)
    elif resource is DAEMON_SETS:
        yield from _of_daemon_set(spec)


def _of_deployment(spec: Object) -> Iterator[Cause]:
    kind, rolling = dig(spec, "strategy", "type"), dig(spec, "strategy", "rollingUpdate")
    if kind not in _TYPES:
        yield faults.unsupported("spec.strategy.type", kind, _TYPES)
    elif kind == "Recreate" and rolling is not None:
        why = "may not be specified when strategy `type` is 'Recreate'"
        yield faults.forbidden(_ROLLING, why)
    elif isinstance(rolling, dict):
        for part in _PARTS:
            yield from _amount(f"{_ROLLING}.{part}", rolling.get(part), whole=part == _PARTS[0])
        if all(rolling.get(part) in _NONE for part in _PARTS):
            why = "may not be 0 when `maxSurge` is 0"
            yield faults.invalid(f"{_ROLLING}.maxUnavailable", rolling.get(_PARTS[0]), why)
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    if isinstance(deadline, int) and isinstance(ready, int) and deadline <= ready:
        why = "must be greater than minReadySeconds"
        yield faults.invalid("spec.progressDeadlineSeconds", deadline, why)


def _amount(at: str, value: object, *, whole: bool) -> Iterator[Cause]:
    """Check a number of pods, or a percentage; `whole`: of those that there are."""
    if isinstance(value, int):
        if value < 0:
            yield faults.invalid(at, value, "must be greater than or equal to 0")
    elif value is not None:
        percent = _PERCENT.fullmatch(str(value))
        if percent is None:
            yield faults.invalid(at, value, "must be an integer or percentage (e.g '5%')")
        elif whole and int(percent[1]) > 100:  # noqa: PLR2004  percent
            yield faults.invalid(at, value, "must not be greater than 100%")


def _of_daemon_set(spec: Object) -> Iterator[Cause]:
    """Kubernetes rule (ValidateRollingUpdateDaemonSet): an update deletes first or makes first."""
    rolling = dig(spec, "updateStrategy", "rollingUpdate")
    if rolling is None:
        return
    place = "spec.updateStrategy.rollingUpdate"
    away, surge = (rolling.get(part) in _NONE for part in ("maxUnavailable", "maxSurge"))
    if away and surge:
        yield faults.required(f"{place}.maxUnavailable", "cannot be 0 when maxSurge is 0")
    elif not away and not surge:
        why = "may not be set when maxUnavailable is non-zero"
        yield faults.invalid(f"{place}.maxSurge", rolling["maxSurge"], why)
