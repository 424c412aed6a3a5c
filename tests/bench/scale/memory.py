"""What processes have in memory, as Linux tells it; all in MiB."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_KIB = re.compile(r"^(\w+):\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Memory:
    """Sums over processes. Not a Linux: nothing but zeros."""

    rss: float
    """Resident now; what processes share counts for each."""
    pss: float
    """Resident now; what processes share is shared out."""
    peak: float
    """The most that was ever resident, each process by itself."""


def memory(pids: Iterable[int]) -> Memory:
    """Measure processes; one that has ended counts as nothing."""
    rss = pss = peak = 0
    for pid in pids:
        status, rollup = _values(pid, "status"), _values(pid, "smaps_rollup")
        rss += status.get("VmRSS", 0)
        peak += status.get("VmHWM", 0)
        pss += rollup.get("Pss", 0)
    return Memory(rss / 1024, pss / 1024, peak / 1024)


def _values(pid: int, file: str) -> dict[str, int]:
    try:
        text = Path(f"/proc/{pid}/{file}").read_text()
    except OSError:
        return {}
    return {name: int(value) for name, value in _KIB.findall(text)}
