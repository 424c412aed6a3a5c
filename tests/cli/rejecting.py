"""Runs `evencore rejections` in the process of the test, and builds what it reads."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from builders import NOW, failed, namespace, node, pod
from click.testing import CliRunner

from evencore.rejections.objects import objects_of
from evencore.rejections_command import Cluster, make_rejections_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import timedelta

    from builders import Pod, _Object
    from click.testing import Result

    from evencore.rejections.listing import RejectedPod
    from evencore.rejections.objects import Objects

Object = dict[str, Any]


class Fake:
    """A cluster that holds these objects; `pictures` are what is seen of it one after the other."""

    def __init__(self, *objects: _Object, pictures: Iterable[Iterable[_Object]] = ()) -> None:
        self.documents = [o.obj for o in objects]
        self.pictures = [objects_of(o.obj for o in picture) for picture in pictures]
        self.refuses: Callable[[RejectedPod], str | None] = lambda _: None
        self.deleted: list[str] = []
        self.notes: tuple[str, ...] = ()

    def run(self, *args: str, colour: bool = False) -> Result:
        cluster = Cluster(self._read, self._follow, self._delete)
        command = make_rejections_command(cluster, lambda: NOW)
        return CliRunner().invoke(command, args, color=colour)

    def report(self, *args: str) -> Object:
        result = self.run(*args, "-o", "json")
        assert result.exit_code == 0, result.output
        value: Object = json.loads(result.stdout)
        return value

    def only(self, *args: str) -> Object:
        (owner,) = self.report(*args)["owners"]
        return dict(owner)

    def _read(
        self,
        _kubeconfig: str | None,
        _context: str | None,
        _namespace: str | None,
        take: Callable[[object], None],
    ) -> tuple[str, ...]:
        for document in self.documents:
            take(document)
        return self.notes

    def _follow(self, *_: object) -> AbstractContextManager[Fake]:
        return nullcontext(self)

    def objects(self) -> Objects:
        return self.pictures[0]

    def wait(self, timeout_s: float) -> bool:
        """Show the next picture, and after the last press Ctrl-C."""
        del timeout_s
        self.pictures.pop(0)
        if not self.pictures:
            raise KeyboardInterrupt
        return False

    def _delete(
        self, _kubeconfig: str | None, _context: str | None, pods: Iterable[RejectedPod]
    ) -> Iterator[str | None]:
        for one in pods:
            why = self.refuses(one)
            if why is None:
                self.deleted.append(one.name)
            yield why


def takes_part(name: str = "apps") -> _Object:
    return namespace(name).label("evencore.io/admission", "enabled")


def nodes(*names: str) -> list[_Object]:
    return [node(name).named().width(2).largest(22, 44) for name in names]


def refused(node_name: str, number: int = 1, **metadata: object) -> Pod:
    """Return a rejected pod of ReplicaSet apps/app."""
    return failed(node_name, "rs-1", number).metadata(**{"namespace": "apps", **metadata})


def held(number: int = 1, ago: timedelta | None = None) -> Pod:
    """Return a held pod of the same."""
    made = pod(f"held-{number}").owner("rs-1").label("evencore.io/steering", "held")
    at = (NOW - ago if ago else NOW).strftime("%Y-%m-%dT%H:%M:%SZ")
    made.metadata(uid=f"held-{number}", namespace="apps", creationTimestamp=at)
    return made.spec(schedulingGates=[{"name": "evencore.io/hold"}])


class Event:
    """An Event as kubelets and controllers write them."""

    def __init__(self, reason: str, message: str = "", **about: object) -> None:
        at = NOW.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.obj: Object = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e", "namespace": about.get("namespace", "apps")},
            "reason": reason,
            "message": message,
            "involvedObject": {"namespace": "apps", "uid": "u", **about},
            "lastTimestamp": at,
        }

    def by(self, component: str, host: str = "") -> Event:
        self.obj["source"] = {"component": component, "host": host}
        return self
