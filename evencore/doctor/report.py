"""All checks, and what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.doctor import calling, configuration, controlling, machines, workloads
from evencore.doctor.finding import Check, Finding, Severity
from evencore.doctor.world import (
    CONFIGURATIONS,
    ENDPOINTS,
    EVENTS,
    LEASE,
    NAMESPACES,
    NODES,
    OWNERS,
    PODS,
    World,
)
from evencore.domain.text import one_of

if TYPE_CHECKING:
    from datetime import datetime

CHECKS: Final = (
    Check("the webhook configuration", (CONFIGURATIONS,), configuration.missing),
    Check("its rules", (CONFIGURATIONS,), configuration.rules),
    Check(
        "its namespaceSelector",
        (CONFIGURATIONS, NAMESPACES),
        configuration.selector,
    ),
    Check(
        "its failurePolicy",
        (CONFIGURATIONS, NAMESPACES),
        configuration.fail_closed,
    ),
    Check("namespaces that take part", (NAMESPACES,), configuration.participants),
    Check("a pod created for trial", (CONFIGURATIONS, NAMESPACES), calling.trial),
    Check("a TLS handshake", (CONFIGURATIONS,), calling.handshakes),
    Check("the caBundle", (CONFIGURATIONS,), calling.bundles),
    Check("the certificate", (CONFIGURATIONS,), calling.renewal),
    Check("endpoints", (CONFIGURATIONS, ENDPOINTS), calling.endpoints),
    Check("the controller's Lease", (LEASE,), controlling.lease),
    Check("held pods", (PODS, LEASE, CONFIGURATIONS), controlling.gates),
    Check("threads per core", (NODES, PODS), machines.widths),
    Check("what is told of nodes", (NODES, PODS), machines.contradictions),
    Check("reserved CPUs", (NODES,), machines.reserved),
    Check("nodes of several widths", (NODES,), machines.mixed),
    Check("pods aligned and not Guaranteed", (PODS,), workloads.unpinned),
    Check("owners without a node", (NODES, PODS, EVENTS), workloads.nowhere),
    Check("templates that name a node", (PODS, OWNERS), workloads.fixed_nodes),
    Check("rolling updates", (PODS,), workloads.rollouts),
)

HEALTHY: Final = 0
FINDINGS: Final = 1
UNKNOWN: Final = 2


class Report(NamedTuple):
    """What the doctor says."""

    now: datetime
    findings: tuple[Finding, ...]  # the worst first
    checked: int  # checks that could be done
    participants: tuple[str, ...]
    called: bool | None  # None: not known

    @property
    def status(self) -> int:
        """The exit status; what is wrong counts more than what is not known."""
        severities = {finding.severity for finding in self.findings}
        if severities & {Severity.ERROR, Severity.WARNING}:
            return FINDINGS
        return UNKNOWN if Severity.UNKNOWN in severities else HEALTHY


def diagnose(world: World) -> Report:
    """Do all checks for which enough could be read; the others are reported as unknown."""
    findings: list[Finding] = []
    undone: dict[str, list[str]] = {}
    for check in CHECKS:
        lacking = [part for part in check.needs if part in world.missing]
        if lacking:
            undone.setdefault(lacking[0], []).append(check.what)
        else:
            findings += check.run(world)
    findings += [_unknown(part, what, world.missing[part]) for part, what in undone.items()]
    checked = len(CHECKS) - sum(map(len, undone.values()))
    order = list(Severity)
    findings.sort(key=lambda finding: order.index(finding.severity))
    trial = world.trial
    known = trial is not None and trial.call.value != "unknown"
    return Report(
        world.now,
        tuple(findings),
        checked,
        tuple(world.participants),
        world.called if known else None,
    )


def _unknown(part: str, what: list[str], why: str) -> Finding:
    return Finding(
        "not-checked",
        Severity.UNKNOWN,
        part,
        f"could not look at {one_of(what, last='and')}: {why}",
        f"kubectl auth can-i list {part}",
    )
