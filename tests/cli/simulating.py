"""Runs `evencore simulate` on objects, as a process would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from builders import NOW
from click.testing import CliRunner, Result
from standing_builders import STATED, numa, pod, sized

from evencore.simulate_command import make_simulate_command

Object = dict[str, Any]


def run(*args: str, objects: list[Object] | None = None) -> Result:
    """Run the command; `objects` become its dump."""
    if objects is not None:
        Path("dump.json").write_text(json.dumps({"kind": "List", "items": objects}))
        args = ("-f", "dump.json", *args)
    return CliRunner().invoke(make_simulate_command(lambda: NOW), args)


def report(*args: str, objects: list[Object]) -> Object:
    """Run it and read what it says to machines."""
    result = run(*args, "-o", "json", objects=objects)
    assert result.exit_code in (0, 1), result.output
    value: Object = json.loads(result.stdout)
    return value


def outcomes(*args: str, objects: list[Object]) -> Object:
    found: Object = report(*args, objects=objects)["outcomes"]
    return found


def deployment(cpu: object, replicas: int = 1, kind: str = "Deployment", **spec: object) -> Object:
    made = pod("web", cpu, **spec)
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": replicas, "template": {"spec": made["spec"]}},
    }


def write(*objects: Object, name: str = "web.json") -> str:
    Path(name).write_text("\n".join(json.dumps(one) for one in objects))
    return name


def machine(name: str, *free: int) -> list[Object]:
    """Make a node of the story, with pods that leave so many CPUs free in its NUMA nodes."""
    inside = [
        pod(f"{name}-{number}", room - left, on=name, started=number + 1)
        for number, (room, left) in enumerate(zip((22, 24), free, strict=True))
        if room > left
    ]
    return [
        sized(name, **STATED),
        numa(name, *((24, room, left) for room, left in zip((22, 24), free, strict=True))),
        *inside,
    ]
