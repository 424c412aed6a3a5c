"""The roles of the manifests against what the processes do: no call is refused, no rule is idle.

Both run for real, as their service accounts, while pods of every kind of owner are rejected.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest
import yaml
from deployment.installed import NAMESPACE, Installed, until
from deployment.manifests import Object, objects
from e2e import workloads

from simulator.auth.asked import Asked
from simulator.auth.rbac import allows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deployment.installed import Call

POLICY: Final = {
    "exclusions": {"initial": "1s", "maximum": "1s"},
    "holds": {"firstRelease": "1s", "slowestRelease": "1s", "releaseWithRoom": "1s"},
    "rejections": {"afterKubeletStart": "0s", "keep": 0},
}
OWNERS: Final = ("Deployment", "StatefulSet", "Job", "ReplicationController")


class Grant(NamedTuple):
    """The smallest part of a rule: one verb on one resource, by one name or any."""

    account: str
    rule: str  # as JSON; what `allows` looks at
    namespace: str  # empty: all

    def covers(self, call: Call) -> bool:
        """Tell whether this is what allowed a call."""
        user = f"system:serviceaccount:{NAMESPACE}:{self.account}"
        here = self.namespace in ("", call.asked.namespace)
        return call.user == user and here and allows(json.loads(self.rule), call.asked)


def grants() -> list[Grant]:
    """Take all roles apart, by who has them."""
    made = objects()
    roles = {(o["kind"], o["metadata"]["name"]): o for o in made if o["kind"].endswith("Role")}
    found = []
    for binding in made:
        if not binding["kind"].endswith("RoleBinding"):
            continue
        role = roles[binding["roleRef"]["kind"], binding["roleRef"]["name"]]
        for subject in binding["subjects"]:
            found += [
                Grant(subject["name"], json.dumps(part), binding["metadata"].get("namespace", ""))
                for rule in role["rules"]
                for part in _parts(rule)
            ]
    return found


def _parts(rule: Object) -> Iterator[Object]:
    for group in rule["apiGroups"]:
        for resource in rule["resources"]:
            for verb in rule["verbs"]:
                for name in rule.get("resourceNames", [None]):
                    part = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                    yield {**part, "resourceNames": [name]} if name else part


def idle(calls: list[Call]) -> list[Grant]:
    """Return what nobody has used."""
    return [one for one in grants() if not any(one.covers(call) for call in tuple(calls))]


def looping(kind: str) -> Object:
    """Make a workload whose pods fit the node and none of its NUMA nodes."""
    return workloads.workload(kind, "work", kind.lower(), ["n1"], "28")


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Call]]:
    """Run everything until every rule was used, certificates and all."""
    directory = tmp_path_factory.mktemp("rbac")
    with pytest.MonkeyPatch.context() as patch, Installed(directory, patch) as installed:
        port = installed.start(
            "webhook",
            POLICY,
            cert_directory=str(directory / "tls"),
            drain_seconds="0",
            closing_seconds="0",
        )
        installed.serve(port)
        installed.start("controller", POLICY)
        installed.kubectl("create", "namespace", "work")
        installed.kubectl("label", "namespace", "work", "evencore.io/admission=enabled")
        made = [looping(kind) for kind in OWNERS]
        installed.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(made))
        _spoil_the_certificate(installed)
        until(lambda: not idle(installed.calls), lambda: idle(installed.calls))
        yield installed.calls


def _spoil_the_certificate(installed: Installed) -> None:
    """Have the controller mend the Secret, as it would renew it one day."""
    secret = ("secret", "evencore-webhook-tls", "-n", NAMESPACE)
    until(
        lambda: installed.kubectl("get", *secret, "--ignore-not-found"),
        installed.logs,
    )
    installed.kubectl("patch", *secret, "-p", '{"data":{"tls.crt":"cnViYmlzaA=="}}')


def test_no_call_is_refused(calls: list[Call]) -> None:
    assert [call for call in calls if not call.allowed] == []


def test_every_rule_is_used(calls: list[Call]) -> None:
    assert idle(calls) == []
    assert len(grants()) > 40


def test_a_call_beyond_the_rules_would_be_noticed() -> None:
    writes = Asked("patch", "", "nodes", "", "", "n1")
    for grant in grants():
        if grant.account == "evencore-webhook":
            assert not allows(json.loads(grant.rule), writes)
