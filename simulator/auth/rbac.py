"""RBAC: which roles a user has by bindings, and whether one of their rules allows what is asked.

For: `Policy`, made of all roles and bindings there are; pure.
Not for: aggregation of ClusterRoles (their rules are written into them, as in a real cluster),
and not for members of system:masters, whom no rule holds back.

Kubernetes rules: plugin/pkg/auth/authorizer/rbac and pkg/registry/rbac/validation; the texts of
reasons are theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulator.admission.chain import User
    from simulator.auth.asked import Asked
    from simulator.objects import Object

ANY: Final = "*"
SERVICE_ACCOUNT: Final = "system:serviceaccount"
_GROUP: Final = "rbac.authorization.k8s.io"


class Verdict(NamedTuple):
    """Whether it is allowed, and why; without a reason no rule was found that speaks of it."""

    allowed: bool
    reason: str = ""


class Granted(NamedTuple):
    """A rule that a user has, and the binding it has it by, in words."""

    rule: Object
    by: str


class Policy:
    """All roles and bindings of one moment."""

    def __init__(
        self,
        *,
        cluster_roles: Iterable[Object] = (),
        cluster_bindings: Iterable[Object] = (),
        roles: Iterable[Object] = (),
        bindings: Iterable[Object] = (),
    ) -> None:
        self._roles: dict[tuple[str, str, str], Object] = {}
        for kind, some in (("ClusterRole", cluster_roles), ("Role", roles)):
            for one in some:
                named = one["metadata"]
                self._roles[kind, named.get("namespace", ""), named["name"]] = one
        self._bindings: dict[str, list[Object]] = {"": list(cluster_bindings)}
        for one in bindings:
            self._bindings.setdefault(one["metadata"]["namespace"], []).append(one)

    def decide(self, user: User, asked: Asked) -> Verdict:
        """Decide; the first rule that allows it is the reason."""
        faults: list[str] = []
        for granted in self.granted(user, asked.namespace, faults):
            if allows(granted.rule, asked):
                return Verdict(True, f"RBAC: allowed by {granted.by}")
        if not faults:
            return Verdict(False)
        told = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
        return Verdict(False, f"RBAC: {told}")

    def granted(self, user: User, namespace: str, faults: list[str]) -> Iterator[Granted]:
        """Iterate over the rules that a user has, cluster-wide ones first.

        `faults` gets a sentence for each binding that applies and whose role is not there.
        """
        for where in ("", namespace) if namespace else ("",):
            for binding in self._bindings.get(where, ()):
                subject = _subject_of(user, binding)
                if subject is None:
                    continue
                kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
                role = self._roles.get((kind, where if kind == "Role" else "", name))
                if role is None:
                    fault = f'{kind.lower()}.{_GROUP} "{name}" not found'
                    if fault not in faults:
                        faults.append(fault)
                    continue
                by = _described(binding, subject)
                yield from (Granted(rule, by) for rule in role.get("rules") or ())


def allows(rule: Object, asked: Asked) -> bool:
    """Tell whether a rule allows it."""
    if not _has(rule, "verbs", asked.verb):
        return False
    if asked.path:
        return any(_path_matches(one, asked.path) for one in rule.get("nonResourceURLs") or ())
    names = rule.get("resourceNames")
    return (
        _has(rule, "apiGroups", asked.group)
        and (
            _has(rule, "resources", asked.combined)
            or (
                bool(asked.subresource)
                and f"*/{asked.subresource}" in (rule.get("resources") or ())
            )
        )
        and (not names or asked.name in names)
    )


def _has(rule: Object, part: str, wanted: str) -> bool:
    listed = rule.get(part) or ()
    return ANY in listed or wanted in listed


def _path_matches(pattern: str, path: str) -> bool:
    if pattern.endswith(ANY):
        return path.startswith(pattern.rstrip(ANY))
    return pattern == path


def _subject_of(user: User, binding: Object) -> Object | None:
    """Give the subject of a binding that is this user, or a group that has them."""
    home = binding["metadata"].get("namespace", "")
    for subject in binding.get("subjects") or ():
        kind, name = subject["kind"], subject["name"]
        if kind == "ServiceAccount":
            namespace = subject.get("namespace") or home
            applies = bool(namespace) and user.name == f"{SERVICE_ACCOUNT}:{namespace}:{name}"
        elif kind == "Group":
            applies = name in user.groups
        else:
            applies = kind == "User" and name == user.name
        if applies:
            found: Object = subject
            return found
    return None


def _described(binding: Object, subject: Object) -> str:
    named, role = binding["metadata"], binding["roleRef"]
    home = named.get("namespace", "")
    kind = "RoleBinding" if home else "ClusterRoleBinding"
    who = subject["name"]
    if subject["kind"] == "ServiceAccount":
        who = f"{who}/{subject.get('namespace') or home}"
    name = f"{named['name']}/{home}" if home else named["name"]
    return f'{kind} "{name}" of {role["kind"]} "{role["name"]}" to {subject["kind"]} "{who}"'
