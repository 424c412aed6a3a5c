"""matchConditions: CEL expressions over the request, compiled by a library.

For: telling before a call whether the webhook wants to be asked.
Not for: a CEL of our own. The library comes with the extra `cluster`; without it, and for what it
does not know (`authorizer`, Kubernetes' own functions, `?.`), a configuration is refused with 422.

Kubernetes: apiserver/pkg/admission/plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object

VARIABLES: Final = ("object", "oldObject", "request")

_FUNCTIONS: Final = frozenset(
    (
        *(
            "bool",
            "bytes",
            "double",
            "duration",
            "dyn",
            "int",
            "string",
            "timestamp",
            "type",
            "uint",
        ),
        *("contains", "endsWith", "matches", "size", "startsWith"),
        *("getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours"),
        *("getMilliseconds", "getMinutes", "getMonth", "getSeconds"),
    )
)
_TYPES: Final = frozenset(("bool", "bytes", "double", "int", "list", "map", "string", "uint"))
# What a macro calls its element is a variable of its own, and operators are functions.
_ELEMENT: Final = re.compile(r"\.\s*(?:all|exists|exists_one|filter|map)\s*\(\s*(\w+)\s*,")
_OPERATOR: Final = re.compile(r"[^A-Za-z]")


class CannotCompile(Exception):  # noqa: N818  a verdict on an expression, not a fault of ours
    """An expression that nobody here can evaluate; the text says why."""


class CannotEvaluate(Exception):  # noqa: N818  as above
    """A condition that came to neither true nor false for this request."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition."""

    name: str
    program: Any  # cel.Program

    def holds(self, context: Object) -> bool:
        """Evaluate it. Raises CannotEvaluate."""
        try:
            found = self.program.execute(context)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise CannotEvaluate(
                f"error evaluating match condition {self.name!r}: {said}"
            ) from error
        if not isinstance(found, bool):
            raise CannotEvaluate(f"match condition {self.name!r} gave no bool but {found!r}")
        return found


def compiled(name: str, expression: str) -> Condition:
    """Compile an expression. Raises CannotCompile."""
    try:
        import cel  # noqa: PLC0415  optional: most configurations have no conditions
    except ImportError:
        raise CannotCompile(
            "matchConditions need the package common-expression-language, which is not "
            "installed: pip install 'evencore[cluster]'"
        ) from None
    try:
        program = cel.compile(expression)
    except ValueError as error:
        raise CannotCompile(str(error)) from error
    unknown = _unknown(expression, program.variables(), program.functions())
    if unknown:
        raise CannotCompile(
            f"undeclared reference to {', '.join(unknown)}: the pocket cluster knows "
            f"{', '.join(VARIABLES)} and the functions of plain CEL"
        )
    return Condition(name, program)


def _unknown(expression: str, variables: Iterable[str], functions: Iterable[str]) -> list[str]:
    known = {*VARIABLES, *_TYPES, *_ELEMENT.findall(expression)}
    called = {one for one in functions if not _OPERATOR.match(one)}
    return sorted({*variables} - known | called - _FUNCTIONS)


def all_hold(conditions: Iterable[Condition], context: Object) -> bool:
    """Tell whether all conditions are true. Raises CannotEvaluate.

    Kubernetes rule: one that is false decides, even if another cannot be evaluated.
    """
    failure: CannotEvaluate | None = None
    for condition in conditions:
        try:
            if not condition.holds(context):
                return False
        except CannotEvaluate as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return True
