"""What a Job must be: how its pods restart, and the rules of its podFailurePolicy. Pure.

Kubernetes rules: ValidateJobSpec and validatePodFailurePolicy of pkg/apis/batch/validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.objects import dig
from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS: Final = ("In", "NotIn")
_COUNTS: Final = (
    "parallelism",
    "completions",
    "backoffLimit",
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
)
_RESTART: Final = "spec.template.spec.restartPolicy"


def check(job: Object) -> Iterator[Cause]:
    """Tell what is wrong with a Job."""
    spec = job["spec"]
    for part in _COUNTS:
        if spec.get(part, 0) is not None and spec.get(part, 0) < 0:
            yield faults.invalid(f"spec.{part}", spec[part], "must be greater than or equal to 0")
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        yield faults.required("spec.completions", "when completion mode is Indexed")
    restart = dig(spec, "template", "spec", "restartPolicy")
    if restart == "Always":
        yield faults.required(_RESTART, 'valid values: "OnFailure", "Never"')
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return
    if restart != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        yield faults.invalid(_RESTART, restart, why)
    for number, rule in enumerate(policy.get("rules") or ()):
        yield from _rule(rule, f"spec.podFailurePolicy.rules[{number}]")


def _rule(rule: Object, place: str) -> Iterator[Cause]:
    if not rule.get("action"):
        yield faults.required(f"{place}.action", f"valid values: {', '.join(_ACTIONS)}")
    elif rule["action"] not in _ACTIONS:
        yield faults.unsupported(f"{place}.action", rule["action"], _ACTIONS)
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes and conditions:
        why = "specifying both OnExitCodes and OnPodConditions is not supported"
        yield faults.invalid(place, rule, why)
    elif not codes and not conditions:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
        yield faults.invalid(place, rule, why)
    if codes:
        if codes.get("operator") not in _OPERATORS:
            at = f"{place}.onExitCodes.operator"
            yield faults.unsupported(at, codes.get("operator"), _OPERATORS)
        if not codes.get("values"):
            yield faults.required(f"{place}.onExitCodes.values")
