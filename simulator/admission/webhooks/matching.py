"""Which writes a webhook is asked about, as a function of values.

For: rules, scope, matchPolicy and the two selectors.
Not for: matchConditions (`conditions`) and reading namespaces from the store.

Kubernetes: apiserver/pkg/admission/plugin/webhook/{generic,predicates}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.resources import MUTATING_WEBHOOKS, NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulator.admission.chain import Attributes
    from simulator.admission.webhooks.model import Hook, Rule
    from simulator.api.routing import Target
    from simulator.objects import Object
    from simulator.resources import Resource
    from simulator.selectors import Requirement

_ALL: Final = "*"


def exempt(target: Target) -> bool:
    """Tell whether no webhook is ever asked: or one could forbid its own removal."""
    return target.resource is MUTATING_WEBHOOKS


def asked_as(hook: Hook, attributes: Attributes, equals: Sequence[Resource]) -> Resource | None:
    """Give the resource as which a webhook wants to see a write; None: it does not.

    `equals`: the other versions of the resource, for matchPolicy Equivalent.
    """
    target, rules = attributes.target, hook.webhook.rules
    if _any(rules, attributes, target.resource):
        return target.resource
    # A subresource has the same kind in all versions that we serve, so it has no other shape.
    if hook.webhook.match_policy != "Equivalent" or target.subresource:
        return None
    # Rule by rule, as the API server does: an earlier rule decides in which version.
    return next(
        (one for rule in rules for one in equals if _rule_matches(rule, attributes, one)), None
    )


def _any(rules: Iterable[Rule], attributes: Attributes, resource: Resource) -> bool:
    return any(_rule_matches(rule, attributes, resource) for rule in rules)


def _rule_matches(rule: Rule, attributes: Attributes, resource: Resource) -> bool:
    return (
        _has(rule.operations, attributes.operation)
        and _has(rule.api_groups, resource.group)
        and _has(rule.api_versions, resource.version)
        and rule.scope in (_ALL, "Namespaced" if resource.namespaced else "Cluster")
        and any(
            _names(one, resource.plural, attributes.target.subresource) for one in rule.resources
        )
    )


def _has(values: Sequence[str], wanted: str) -> bool:
    return _ALL in values or wanted in values


def _names(written: str, plural: str, subresource: str) -> bool:
    """`pods` is pods alone, `pods/*` them and all below, `*/status` the status of everything."""
    resource, _, below = written.partition("/")
    return resource in (_ALL, plural) and below in (_ALL, subresource)


def objects_match(requirements: Sequence[Requirement], *objects: Object | None) -> bool:
    """Hold an objectSelector against the new and the old object: one of them is enough."""
    if not requirements:
        return True
    return any(labels_match(requirements, labels_of(one)) for one in objects if one is not None)


def labels_match(requirements: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    """Hold a selector against labels."""
    return all(one.holds(dict(labels)) for one in requirements)


def labels_of(obj: Object) -> dict[str, str]:
    """Give the labels of an object."""
    found: Any = (obj.get("metadata") or {}).get("labels")
    return found or {}


def namespace_of(attributes: Attributes) -> str:
    """Give the namespace of a write as admission sees it: that of a Namespace is itself."""
    target = attributes.target
    return name_of(attributes) if target.resource is NAMESPACES else target.namespace


def name_of(attributes: Attributes) -> str:
    """Give the name of what is written; empty while it is still to be generated."""
    if attributes.target.name:
        return attributes.target.name
    metadata = (attributes.obj or attributes.old or {}).get("metadata") or {}
    return str(metadata.get("name") or "")
