"""What is wrong with a configuration of webhooks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from scripted_webhook import HOOKS, NAME, configuration, hook

if TYPE_CHECKING:
    from simulator_support import Object, Wire

CONFIG = {"url": "https://h.example/mutate"}


FAULTS: dict[str, tuple[Object, str]] = {
    "a query": (
        {"clientConfig": {"url": "https://h.example/x?a=b"}},
        (
            'webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not '
            "permitted in the URL"
        ),
    ),
    "plain HTTP": (
        {"clientConfig": {"url": "http://h.example/x"}},
        (
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed "
            "URL scheme; desired format: https://host[/path]"
        ),
    ),
    "neither url nor service": (
        {"clientConfig": {}},
        "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
    ),
    "too much patience": (
        {"timeoutSeconds": 31},
        (
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 "
            "and 30 seconds"
        ),
    ),
    "side effects": (
        {"sideEffects": "Some"},
        (
            'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", '
            '"NoneOnDryRun"'
        ),
    ),
    "a selector without an operator that it knows": (
        {"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}},
        "webhooks[0].objectSelector.matchExpressions[0].operator: Invalid value",
    ),
    "a selector without values": (
        {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
        "webhooks[0].namespaceSelector.matchExpressions[0].values: Required value",
    ),
    "a name that is too short": (
        {"name": "short"},
        (
            'webhooks[0].name: Invalid value: "short": should be a domain with at least three '
            "segments separated by dots"
        ),
    ),
    "an operation that is none": (
        {"rules": [{"operations": ["GET"], "apiGroups": [""], "apiVersions": ["v1"]}]},
        'webhooks[0].rules[0].operations[0]: Unsupported value: "GET"',
    ),
    "a condition with a mistake": (
        {"matchConditions": [{"name": "c", "expression": "object."}]},
        "webhooks[0].matchConditions[0].expression: Invalid value: ",
    ),
    "a condition that asks an authorizer": (
        {"matchConditions": [{"name": "c", "expression": "authorizer.group('').check('get')"}]},
        "undeclared reference to authorizer, check, group",
    ),
}


@pytest.mark.parametrize(("more", "want"), FAULTS.values(), ids=FAULTS)
def test_faults_of_a_configuration_are_told(api: Wire, more: Object, want: str) -> None:
    entry = {**hook(NAME, CONFIG), **more}
    status, body = api.ask("POST", HOOKS, configuration(entry))
    assert (status, body["reason"]) == (422, "Invalid")
    assert want in body["message"]


def test_without_the_library_conditions_are_refused_and_told_how_to_get_it(
    api: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cel", None)
    entry = hook(NAME, CONFIG, matchConditions=[{"name": "c", "expression": "true"}])
    status, body = api.ask("POST", HOOKS, configuration(entry))
    assert (status, body["reason"]) == (422, "Invalid")
    assert "pip install 'evencore[cluster]'" in body["message"]
    assert api.ask("POST", HOOKS, configuration(hook(NAME, CONFIG)))[0] == 201


WRONG_TYPES: dict[str, Object] = {
    "a timeout in words": {"timeoutSeconds": "soon"},
    "a selector that is a list": {"objectSelector": []},
    "an expression without a key": {
        "objectSelector": {"matchExpressions": [{"operator": "Exists"}]}
    },
    "a bundle that is no base64": {"clientConfig": {"url": "https://h.example", "caBundle": "?"}},
}


@pytest.mark.parametrize("more", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_a_configuration_of_wrong_types_is_a_bad_request(api: Wire, more: Object) -> None:
    entry = {**hook(NAME, CONFIG), **more}
    status, body = api.ask("POST", HOOKS, configuration(entry))
    assert (status, body["reason"]) == (400, "BadRequest")
