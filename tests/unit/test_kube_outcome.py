"""What an answer to a write means."""

from __future__ import annotations

import json

import pytest
import urllib3.exceptions

from evencore.kube import errors
from evencore.kube.backoff import LONGEST_RETRY_AFTER_S
from evencore.kube.outcome import RETRY_S, Conflict, Gone, Later, Refused, outcome_of

CALL = errors.Call("PATCH", "/api/v1/namespaces/a/pods/p", "https://server")
UID = {"causes": [{"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "no"}]}
SPEC = {"causes": [{"reason": "FieldValueInvalid", "field": "spec", "message": "Forbidden"}]}


def _error(code: int, details: object = None, **headers: str) -> errors.KubeError:
    body = json.dumps({"kind": "Status", "message": "as said", "details": details}).encode()
    return errors.from_answer(
        CALL, code, body, {k.replace("_", "-"): v for k, v in headers.items()}
    )


@pytest.mark.parametrize(
    ("error", "tests", "kind"),
    [
        pytest.param(_error(404), False, Gone, id="404: it is gone"),
        pytest.param(_error(409), False, Conflict, id="409: it is another one"),
        pytest.param(_error(422), True, Conflict, id="422 to a JSON patch: a test did not hold"),
        pytest.param(_error(422, SPEC), True, Refused, id="422 to a JSON patch: made invalid"),
        pytest.param(_error(422), False, Refused, id="422 without causes: invalid"),
        pytest.param(_error(422, UID), False, Conflict, id="422 that blames the uid: another one"),
        pytest.param(_error(422, SPEC), False, Refused, id="422 that blames the spec: invalid"),
        pytest.param(_error(422, {"causes": [{"field": 3}]}), False, Refused, id="422 in odd form"),
        pytest.param(_error(400), False, Refused, id="400"),
        pytest.param(_error(403), False, Refused, id="403: may not"),
        pytest.param(_error(405), False, Refused, id="405"),
        pytest.param(_error(413), False, Refused, id="413: too large"),
        pytest.param(_error(415), False, Refused, id="415: a patch that it does not know"),
        pytest.param(_error(401), False, Later, id="401: credentials are loaded again"),
        pytest.param(_error(429), False, Later, id="429"),
        pytest.param(_error(500), False, Later, id="500"),
        pytest.param(_error(503), False, Later, id="503"),
        pytest.param(
            errors.from_exception(CALL, urllib3.exceptions.ProtocolError("reset")),
            False,
            Later,
            id="no answer",
        ),
    ],
)
def test_every_answer_is_one_of_five_kinds(
    error: errors.KubeError,
    tests: bool,  # noqa: FBT001  a column of the table
    kind: type,
) -> None:
    outcome = outcome_of(error, tests=tests)
    assert type(outcome) is kind
    assert str(CALL) in outcome.why  # type: ignore[union-attr]  # Done has none, and is none of these


@pytest.mark.parametrize(
    ("asked", "seconds"), [("7", 7.0), ("1000000", LONGEST_RETRY_AFTER_S), ("soon", RETRY_S)]
)
def test_later_is_when_the_server_says_within_reason(asked: str, seconds: float) -> None:
    outcome = outcome_of(_error(429, Retry_After=asked))
    assert isinstance(outcome, Later)
    assert outcome.seconds == seconds
