"""What is wrong with a MutatingWebhookConfiguration, told before it is stored.

For: every fault at once, with its place, as a validating plug-in.
Not for: whether the webhook is there.

Kubernetes: pkg/apis/admissionregistration/validation, apiserver/pkg/util/webhook/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from simulator.admission.webhooks.conditions import CannotCompile, compiled
from simulator.admission.webhooks.model import read
from simulator.errors import bad_request, invalid
from simulator.resources import MUTATING_WEBHOOKS
from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.admission.chain import Attributes
    from simulator.admission.webhooks.model import LabelSelector, Rule, Service, Webhook
    from simulator.errors import Cause
    from simulator.objects import Object

_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_WITH_VALUES: Final = ("In", "NotIn")
_OPERATORS: Final = (*_WITH_VALUES, "Exists", "DoesNotExist")
_FORM: Final = "; desired format: https://host[/path]"
_LONGEST_S: Final = 30
_LAST_PORT: Final = 65_535
_LEAST_DOTS: Final = 2


async def check_configuration(attributes: Attributes) -> Object | None:
    """Refuse a configuration that has faults (422), or that is none (400)."""
    obj = attributes.obj
    if attributes.target.resource is not MUTATING_WEBHOOKS or obj is None:
        return obj
    try:
        webhooks = read(obj)
    except msgspec.ValidationError as error:
        raise bad_request(f"webhooks cannot be read: {error}") from error
    found = list(faults_of(webhooks))
    if found:
        raise invalid(MUTATING_WEBHOOKS, obj["metadata"].get("name", ""), found)
    return obj


def faults_of(webhooks: Sequence[Webhook]) -> Iterator[Cause]:
    """Find everything that is wrong."""
    seen = set()
    for number, webhook in enumerate(webhooks):
        place = f"webhooks[{number}]"
        yield from _of_webhook(webhook, place)
        if webhook.name and webhook.name in seen:
            yield faults.duplicate(f"{place}.name", webhook.name)
        seen.add(webhook.name)


def _of_webhook(webhook: Webhook, place: str) -> Iterator[Cause]:
    if not webhook.name:
        yield faults.required(f"{place}.name")
    elif webhook.name.count(".") < _LEAST_DOTS:
        why = "should be a domain with at least three segments separated by dots"
        yield faults.invalid(f"{place}.name", webhook.name, why)
    for number, rule in enumerate(webhook.rules):
        yield from _of_rule(rule, f"{place}.rules[{number}]")
    yield from _of_policies(webhook, place)
    yield from _of_selector(webhook.namespace_selector, f"{place}.namespaceSelector")
    yield from _of_selector(webhook.object_selector, f"{place}.objectSelector")
    yield from _of_client(webhook, f"{place}.clientConfig")
    yield from _of_versions(webhook, f"{place}.admissionReviewVersions")
    yield from _of_conditions(webhook, f"{place}.matchConditions")


def _of_policies(webhook: Webhook, place: str) -> Iterator[Cause]:
    for part, value, known in (
        ("failurePolicy", webhook.failure_policy, ("Fail", "Ignore")),
        ("matchPolicy", webhook.match_policy, ("Equivalent", "Exact")),
        ("reinvocationPolicy", webhook.reinvocation_policy, ("IfNeeded", "Never")),
        ("sideEffects", webhook.side_effects, ("None", "NoneOnDryRun")),
    ):
        if value is None:
            yield faults.required(f"{place}.{part}", f"must specify one of {', '.join(known)}")
        elif value not in known:
            yield faults.unsupported(f"{place}.{part}", value, known)
    if not 1 <= webhook.timeout_seconds <= _LONGEST_S:
        why = "the timeout value must be between 1 and 30 seconds"
        yield faults.invalid(f"{place}.timeoutSeconds", webhook.timeout_seconds, why)


def _of_conditions(webhook: Webhook, place: str) -> Iterator[Cause]:
    for number, condition in enumerate(webhook.match_conditions):
        where = f"{place}[{number}]"
        if not condition.name:
            yield faults.required(f"{where}.name")
        try:
            compiled(condition.name, condition.expression)
        except CannotCompile as error:
            why = f"compilation failed: {error}"
            yield faults.invalid(f"{where}.expression", condition.expression, why)


def _of_selector(selector: LabelSelector, place: str) -> Iterator[Cause]:
    for number, expression in enumerate(selector.match_expressions or ()):
        where, operator = f"{place}.matchExpressions[{number}]", expression.operator
        if not expression.key:
            yield faults.required(f"{where}.key")
        if operator not in _OPERATORS:
            yield faults.invalid(f"{where}.operator", operator, "not a valid selector operator")
        elif operator in _WITH_VALUES and not expression.values:
            why = "must be specified when `operator` is 'In' or 'NotIn'"
            yield faults.required(f"{where}.values", why)
        elif operator not in _WITH_VALUES and expression.values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield faults.forbidden(f"{where}.values", why)


def _of_rule(rule: Rule, place: str) -> Iterator[Cause]:
    for part, values in (
        ("operations", rule.operations),
        ("apiGroups", rule.api_groups),
        ("apiVersions", rule.api_versions),
        ("resources", rule.resources),
    ):
        if not values:
            yield faults.required(f"{place}.{part}")
        elif len(values) > 1 and part != "resources" and "*" in values:
            why = "if '*' is present, nothing else may be"
            yield faults.invalid(f"{place}.{part}", values, why)
    for number, operation in enumerate(rule.operations):
        if operation not in _OPERATIONS:
            yield faults.unsupported(f"{place}.operations[{number}]", operation, _OPERATIONS)
    if len(rule.resources) > 1 and "*/*" in rule.resources:
        why = "if '*/*' is present, must not specify other resources"
        yield faults.invalid(f"{place}.resources", rule.resources, why)
    if rule.scope not in ("*", "Cluster", "Namespaced"):
        yield faults.unsupported(f"{place}.scope", rule.scope, ("*", "Cluster", "Namespaced"))


def _of_versions(webhook: Webhook, place: str) -> Iterator[Cause]:
    if not webhook.admission_review_versions:
        yield faults.required(place, "must specify one of v1, v1beta1")
    elif "v1" not in webhook.admission_review_versions:
        why = "the pocket cluster speaks v1 only"
        yield faults.invalid(place, webhook.admission_review_versions, why)


def _of_client(webhook: Webhook, place: str) -> Iterator[Cause]:
    config = webhook.client_config
    if (config.url is None) == (config.service is None):
        yield faults.required(place, "exactly one of url or service is required")
    elif config.url is not None:
        yield from _of_url(config.url, f"{place}.url")
    elif config.service is not None:
        yield from _of_service(config.service, f"{place}.service")


def _of_url(url: str, place: str) -> Iterator[Cause]:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        yield faults.required(place, f"url must be a valid URL: {error}{_FORM}")
        return
    if parts.scheme != "https":
        why = f"'https' is the only allowed URL scheme{_FORM}"
        yield faults.invalid(place, parts.scheme, why)
    if not host:
        yield faults.invalid(place, parts.netloc, f"host must be provided{_FORM}")
    if "@" in parts.netloc:
        why = "user information is not permitted in the URL"
        yield faults.invalid(place, parts.netloc.rpartition("@")[0], why)
    if parts.fragment:
        yield faults.invalid(place, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        why = "query parameters are not permitted in the URL"
        yield faults.invalid(place, parts.query, why)


def _of_service(service: Service, place: str) -> Iterator[Cause]:
    if not service.name:
        yield faults.required(f"{place}.name", "service name is required")
    if not service.namespace:
        yield faults.required(f"{place}.namespace", "service namespace is required")
    if not 1 <= service.port <= _LAST_PORT:
        why = "port is not valid: must be between 1 and 65535, inclusive"
        yield faults.invalid(f"{place}.port", service.port, why)
    path = service.path
    if path and not path.startswith("/"):
        yield faults.invalid(f"{place}.path", path, "must start with a '/'")
    if path.strip("/") and "" in path.strip("/").split("/"):
        yield faults.invalid(f"{place}.path", path, "segment may not be empty")
