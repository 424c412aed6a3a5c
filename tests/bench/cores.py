"""Cores and processor time: which core a process is put on, what a process tree has used."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cores:
    """The cores for the server and for the load; the same one where there is only one."""

    server: int
    load: int
    count: int
    pinned: bool
    """False where the system cannot pin: figures then mix both."""


def choose_cores() -> Cores:
    """Take the first two cores this process may use."""
    try:
        usable = sorted(os.sched_getaffinity(0))
    except AttributeError:  # no Linux: run unpinned rather than not at all
        return Cores(server=0, load=0, count=os.cpu_count() or 1, pinned=False)
    return Cores(server=usable[0], load=usable[-1], count=len(usable), pinned=True)


@contextmanager
def pinned_to(core: int, cores: Cores) -> Iterator[None]:
    """Run the body on one core; a process started in it stays there with all its threads.

    Pinning the parent for a moment, and not the child after its start, leaves no time in which
    a runtime counts cores or starts threads elsewhere.
    """
    if not cores.pinned:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def process_tree(root: int) -> list[int]:
    """Return the pid `root` and those of all its living descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    tree = [root]
    for pid in tree:  # grows while it is walked: breadth first
        tree.extend(children.get(pid, ()))
    return tree


def cpu_seconds(pids: list[int]) -> float:
    """Return the user and system time that `pids` have used so far, all threads, in seconds.

    The kernel counts exactly and shows hundredths; a process that has ended counts as nothing.
    """
    return sum(int(f[11]) + int(f[12]) for pid in pids if (f := _stat(pid))) / _TICKS


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third (the state) on; none if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return text.rpartition(")")[2].split()  # the second field is a name, it may hold anything
