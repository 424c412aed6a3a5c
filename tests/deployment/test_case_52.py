"""Case 52: a cloud controller edits our namespaceSelector, and nobody fights over it.

The real controller keeps the certificates of an installation; a cloud's enforcer adds its entries
whenever they are missing; then the authority is replaced.
"""

from __future__ import annotations

import copy
import json
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from deployment.installed import NAMESPACE, Installed, until
from deployment.manifests import built, one
from e2e.processes import EVENCORE

from evencore.kube.client import connect
from evencore.kube.writer import JSON_PATCH
from simulator.resources import MUTATING_WEBHOOKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.store.table import Change

Object = dict[str, Any]

CASE: Final = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "52-aks-enforcer-fight.yaml").read_text()
)
FOREIGN: Final = [
    {"key": "control-plane", "operator": "NotIn", "values": ["true"]},
    {"key": "kubernetes.azure.com/managedby", "operator": "NotIn", "values": ["aks"]},
]
PATH: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/evencore"
MOST_WRITES: Final = 2


class Enforcer:
    """Adds its entries on each change of the object that lacks them; keeps every version."""

    def __init__(self, installed: Installed, kubeconfig: Path) -> None:
        self.versions: list[Object] = []
        self.writes = 0
        self.client = connect(str(kubeconfig))
        self._changed, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        server = installed.cluster.server
        table = server.store.table(MUTATING_WEBHOOKS)
        server.call(lambda: table.listen(self._note))
        self._thread.start()
        self._changed.set()

    def stop(self) -> None:
        self._stop.set()
        self._changed.set()
        self._thread.join()
        self.client.close()

    def _note(self, change: Change) -> None:
        self.versions.append(copy.deepcopy(change.record.object))
        self._changed.set()

    def _run(self) -> None:
        while self._changed.wait() and not self._stop.is_set():
            self._changed.clear()
            reply = self.client.get(PATH)
            found = json.loads(reply.read())
            reply.close()
            there = found["webhooks"][0]["namespaceSelector"]["matchExpressions"]
            at = "/webhooks/0/namespaceSelector/matchExpressions/-"
            patch = [{"op": "add", "path": at, "value": e} for e in FOREIGN if e not in there]
            if patch:
                self.writes += 1
                self.client.write("PATCH", PATH, patch, content_type=JSON_PATCH)


class Story:
    """What was seen of the object."""

    def __init__(self, enforcer: Enforcer, before: int, status: Object) -> None:
        self.enforcer, self.before, self.status = enforcer, before, status

    @property
    def ours(self) -> list[tuple[Object, Object]]:
        """Give what each write of the product made of what, since the rotation began."""
        versions = self.enforcer.versions[self.before :]
        pairs = zip(self.enforcer.versions[self.before - 1 :], versions, strict=False)
        return [(old, new) for old, new in pairs if _bundle(old) != _bundle(new)]


def _bundle(configuration: Object) -> str:
    return str(configuration["webhooks"][0]["clientConfig"].get("caBundle", ""))


def _selector(configuration: Object) -> list[Object]:
    found: list[Object] = configuration["webhooks"][0]["namespaceSelector"]["matchExpressions"]
    return found


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    directory = tmp_path_factory.mktemp("case52")
    kubeconfig = directory / "root"
    with pytest.MonkeyPatch.context() as patch, Installed(directory, patch) as installed:
        kubeconfig.write_text(installed.cluster.server.kubeconfig("root"))
        enforcer = Enforcer(installed, kubeconfig)
        installed.start("controller", {}, cert_spread="1s", cert_overlap="2s")

        def status() -> Object:
            command = [EVENCORE, "certs", "status", "-o", "json", "--kubeconfig", str(kubeconfig)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return dict(json.loads(done.stdout)) if done.stdout else {}

        until(lambda: enforcer.versions and _bundle(enforcer.versions[-1]), installed.logs)
        until(lambda: all(e in _selector(enforcer.versions[-1]) for e in FOREIGN), installed.logs)
        before, old = len(enforcer.versions), _bundle(enforcer.versions[-1])
        command = [EVENCORE, "certs", "rotate", "--ca", "--kubeconfig", str(kubeconfig)]
        subprocess.run([*command, "--namespace", NAMESPACE], check=True, capture_output=True)
        until(
            lambda: len(_bundle(enforcer.versions[-1])) < len(old) * 1.5 and
            _bundle(enforcer.versions[-1]) != old,
            installed.logs,
        )  # fmt: skip
        yield Story(enforcer, before, status())
        enforcer.stop()


def test_the_product_writes_twice_for_a_rotation_and_each_time_nothing_but_cabundle(
    story: Story,
) -> None:
    assert CASE["expect"]["must"][0].endswith(f"(<= {MOST_WRITES}), each changing only caBundle")
    assert 0 < len(story.ours) <= MOST_WRITES
    for old, new in story.ours:
        old, new = copy.deepcopy(old), copy.deepcopy(new)  # noqa: PLW2901  they are compared bare
        for version in (old, new):
            del version["webhooks"][0]["clientConfig"]["caBundle"]
            for key in ("resourceVersion", "managedFields", "generation"):
                version["metadata"].pop(key, None)
        assert old == new


def test_the_foreign_entries_are_kept_and_nobody_toggles(story: Story) -> None:
    for version in story.enforcer.versions[story.before :]:
        assert all(entry in _selector(version) for entry in FOREIGN)
    assert story.enforcer.writes == 1


def test_status_shows_the_selector_in_force_with_what_others_added(story: Story) -> None:
    shown = json.dumps(story.status)
    assert "control-plane" in shown
    assert "kubernetes.azure.com/managedby" in shown


def test_only_the_option_asks_the_enforcer_to_stay_out() -> None:
    assert "admissions.enforcer" not in built("base")
    labels = one("MutatingWebhookConfiguration", "evencore", "aks")["metadata"]["labels"]
    assert labels["admissions.enforcer/disabled"] == "true"
