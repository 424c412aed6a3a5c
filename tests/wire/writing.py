"""A pod to write to, and what its server answers, for the tests of the controller's writes."""

from __future__ import annotations

from wire.scripted import Answer

from evencore.kube.writer import Ref

POD = Ref("team", "web-1", "uid-1")
PATH = "/api/v1/namespaces/team/pods/web-1"
WELL = Answer(body=b'{"metadata":{"uid":"uid-1","resourceVersion":"8"}}')
UNGATE = [{"op": "remove", "path": "/spec/schedulingGates/0"}]
