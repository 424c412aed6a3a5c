"""Where the API server queues our requests: before those of any service account."""

from __future__ import annotations

from typing import Final

from deployment.manifests import Object, objects, one

# What every API server makes at its start (KEP-1040, apiserver/pkg/apis/flowcontrol/bootstrap).
LEVELS: Final = {"leader-election", "workload-high"}
EVERY_SERVICE_ACCOUNT: Final = 9000
KUBERNETES_OWN_CONTROLLERS: Final = 900


def _schemas() -> list[Object]:
    return [obj for obj in objects("fairness") if obj["kind"] == "FlowSchema"]


def _subjects(schema: Object) -> set[tuple[str, str]]:
    """Return namespace and name of the accounts that a schema is for."""
    accounts = [s["serviceAccount"] for rule in schema["spec"]["rules"] for s in rule["subjects"]]
    return {(account["namespace"], account["name"]) for account in accounts}


def test_the_levels_are_ones_that_every_api_server_has() -> None:
    assert {s["spec"]["priorityLevelConfiguration"]["name"] for s in _schemas()} == LEVELS


def test_ours_are_looked_at_before_those_of_any_account_the_lease_first() -> None:
    lease, rest = (
        one("FlowSchema", name, "fairness")["spec"]["matchingPrecedence"]
        for name in ("evencore-lease", "evencore")
    )
    assert lease < rest < KUBERNETES_OWN_CONTROLLERS < EVERY_SERVICE_ACCOUNT


def test_they_are_for_our_accounts_and_no_others() -> None:
    ours = {
        (obj["metadata"]["namespace"], obj["metadata"]["name"])
        for obj in objects("fairness")
        if obj["kind"] == "ServiceAccount"
    }
    assert set().union(*map(_subjects, _schemas())) == ours
    assert len(ours) == 2


def test_all_that_the_controller_may_do_with_its_lease_is_in_the_level_for_leases() -> None:
    granted = one("Role", "evencore-controller", "fairness")["rules"]
    allowed = {v for rule in granted if "leases" in rule["resources"] for v in rule["verbs"]}
    [queued] = one("FlowSchema", "evencore-lease", "fairness")["spec"]["rules"]
    assert set(queued["resourceRules"][0]["verbs"]) == allowed
