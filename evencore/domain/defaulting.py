"""What the API server does to a new pod's resources before it calls a webhook.

`evencore explain` starts from what people write; a webhook gets what the API server made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.objects import map_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evencore.domain.objects import Object


def defaulted(pod: Object, limit_ranges: Iterable[Object] = ()) -> Object:
    """Return a pod with the requests and limits that it will have; `pod` stays as it is.

    Kubernetes rules, in this order: a missing request takes the value of the limit
    (SetDefaults_Pod); then each LimitRange of the namespace adds what it has as `defaultRequest`
    and `default` for containers (plugin/pkg/admission/limitranger), and nothing that is there is
    replaced. Of a LimitRange, `default` falls back on `max`, and `defaultRequest` on `default`,
    then on `min` (SetDefaults_LimitRangeItem). Parts of another type than they should have are
    left alone.
    """
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return pod
    defaults = [_defaults_of(item) for one in limit_ranges for item in _limits(one)]
    changed = {
        part: [_container(c, defaults) if isinstance(c, dict) else c for c in spec[part]]
        for part in ("initContainers", "containers")
        if isinstance(spec.get(part), list)
    }
    return pod | {"spec": spec | changed}


def _limits(limit_range: Object) -> list[Object]:
    limits = map_at(limit_range, "spec").get("limits")
    items = limits if isinstance(limits, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("type") == "Container"]


def _defaults_of(item: Object) -> tuple[Object, Object]:
    """Return the default requests and limits of one item of a LimitRange."""
    limits = map_at(item, "max") | map_at(item, "default")
    return map_at(item, "min") | limits | map_at(item, "defaultRequest"), limits


def _container(container: Object, defaults: list[tuple[Object, Object]]) -> Object:
    resources = container.get("resources")
    if resources is not None and not isinstance(resources, dict):
        return container
    resources = resources or {}
    if any(not isinstance(resources.get(part) or {}, dict) for part in ("requests", "limits")):
        return container
    limits = map_at(resources, "limits")
    requests = limits | map_at(resources, "requests")
    for more_requests, more_limits in defaults:
        requests = more_requests | requests
        limits = more_limits | limits
    new = {part: m for part, m in (("requests", requests), ("limits", limits)) if m}
    return container | {"resources": resources | new} if new else container
