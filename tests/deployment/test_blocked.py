"""Case 55, blocked: the webhook is installed, and no call of the API server arrives.

As with a firewall between the control plane and its port: connections end nowhere, failurePolicy
Ignore hides it, and pods are created unchanged.
"""

from __future__ import annotations

import json
import subprocess
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from deployment.installed import Installed, until
from e2e import workloads
from e2e.processes import EVENCORE, free_port

from evencore.domain import names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_PAIRS = 300


class Blocked:
    """A cluster in which that is so, and the port of the controller's metrics."""

    def __init__(self, installed: Installed, port: int) -> None:
        self.installed, self.port = installed, port

    def events(self) -> list[Any]:
        """Return the Events that tell of it."""
        told = json.loads(self.installed.kubectl("get", "events", "-n", "work", "-o", "json"))
        return [event for event in told["items"] if event["reason"] == names.WEBHOOK_NOT_CALLED]

    def metrics(self) -> str:
        """Return the controller's metrics; nothing as long as it does not listen."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as page:
                text: str = page.read().decode()
        except OSError:
            return ""
        return text


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Blocked]:
    directory = tmp_path_factory.mktemp("blocked")
    with pytest.MonkeyPatch.context() as patch, Installed(directory, patch) as installed:
        installed.serve(free_port())  # nobody is there
        cluster = Blocked(installed, installed.start("controller", {}))
        installed.kubectl("create", "namespace", "work")
        installed.kubectl("label", "namespace", "work", f"{names.ADMISSION}={names.ENABLED}")
        until(lambda: "evencore_leading 1.0" in cluster.metrics(), installed.logs)
        for number in range(MOST_PAIRS):
            if cluster.events():
                break
            # Two at a time and again and again, as rollouts make them: one a second is looked at.
            made = [workloads.pod("work", f"p{number}-{cpu}", ["n1"], cpu) for cpu in ("3", "2")]
            installed.kubectl("apply", "-f", "-", stdin=json.dumps(_list(made)))
        yield cluster


def _list(items: list[Any]) -> Any:  # noqa: ANN401  an object
    return {"apiVersion": "v1", "kind": "List", "items": items}


def test_a_warning_event_tells_that_there_is_no_admission_traffic(blocked: Blocked) -> None:
    until(blocked.events, blocked.installed.logs)
    event = blocked.events()[0]
    assert event["type"] == "Warning"
    assert "no admission traffic although pods are being created" in event["message"]
    assert "firewall between the control plane and the webhook's port" in event["message"]


def test_a_metric_counts_it(blocked: Blocked) -> None:
    nothing, counter = "evencore_pods_missed_total 0.0", "evencore_pods_missed_total"
    until(
        lambda: counter in (page := blocked.metrics()) and nothing not in page,
        blocked.metrics,
    )


def test_the_doctor_says_so_names_the_likely_cause_and_exits_with_an_error(
    blocked: Blocked, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(blocked.installed.cluster.server.kubeconfig("root"))
    command = [EVENCORE, "doctor", "--kubeconfig", str(kubeconfig)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    assert "webhook-not-called" in done.stdout
    assert "firewall" in done.stdout
    assert "port" in done.stdout
