"""What a kubelet would say."""

from __future__ import annotations

from typing import NamedTuple


class Admitted(NamedTuple):
    """The pod may run."""

    numa: dict[int, int]  # NUMA node → exclusive CPUs that it gets there
    free: dict[int, int] | None  # CPUs of whole free cores that are left; None: not known


class Refused(NamedTuple):
    """The pod may not run."""

    reason: str
    message: str


class Unsure(NamedTuple):
    """It hangs on what nobody tells."""

    why: str


Verdict = Admitted | Refused | Unsure
