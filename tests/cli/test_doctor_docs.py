"""docs/doctor.md shows what `evencore doctor` really prints, and names every id and key."""

from __future__ import annotations

import ast
import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from builders import NOW, failed, namespace, node, pod
from click.testing import CliRunner

from evencore.doctor.world import Call, Handshake, Shake, Trial
from evencore.doctor_command import make_doctor_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    from evencore.doctor.trying import Address

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/doctor.md").read_text()


class Fake:
    """A cluster whose certificates no longer match, and with a pod that lost its CPUs."""

    def __init__(self, *more: dict[str, Any]) -> None:
        self.more = more

    def read(self, take: Callable[[object], None]) -> dict[str, str]:
        hook = {
            "name": "pods.evencore.io",
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "resources": ["pods"]}],
            "namespaceSelector": {"matchLabels": {"evencore.io/admission": "enabled"}},
            "clientConfig": {"url": "https://10.0.0.7:8443/mutate", "caBundle": "UEVN"},
        }
        web = pod("web-1").metadata(namespace="shop").annotate("evencore.io/original-cpu", "{}")
        web.obj["status"] = {"phase": "Running", "qosClass": "Burstable"}
        rejected = failed("n7").metadata(namespace="shop", name="db-0")
        text = "SMT Alignment Error: requested 6 cpus not multiple cpus per core = 4"
        for one in (
            namespace("shop").label("evencore.io/admission", "enabled"),
            node("n1").named().width(2),
            node("n7").named(),
            web,
            rejected.rejected("n7", "SMTAlignmentError", text),
        ):
            take(one.obj)
        name = "MutatingWebhookConfiguration"
        take({"kind": name, "metadata": {"name": "evencore"}, "webhooks": [hook]})
        for item in self.more:
            take(item)
        return {"noderesourcetopologies": "403"} if self.more else {"events": "GET events: 403"}

    def lease(self, *_: object) -> object:
        spec = {"holderIdentity": "controller-1", "renewTime": NOW.isoformat()}
        return {"spec": spec}

    def owner(self, *_: object) -> object:
        return None

    def endpoints(self, *_: object) -> None:
        return None

    def try_pod(self, namespace: str) -> Trial:
        return Trial(namespace, Call.UNCHANGED)

    def shake_hands(self, address: Address) -> Handshake:
        return Handshake(Shake.UNTRUSTED, address.text, "unable to get local issuer certificate")


def doctor(*args: str, colour: bool = False, fake: Fake | None = None) -> Result:
    command = make_doctor_command(lambda *_: nullcontext(fake or Fake()), lambda: NOW)
    return CliRunner().invoke(command, args, color=colour)


def test_the_page_shows_what_is_printed() -> None:
    shown = PAGE.partition("$ evencore doctor\n")[2].partition("```")[0]
    assert shown == doctor().stdout


def test_every_id_is_on_the_page_and_no_other() -> None:
    """Ids are a promise: what is in the code is in the table."""
    table = set(
        re.findall(r"^\| `([a-z-]+)` \| (?:error|warning|unknown|note) \|", PAGE, re.MULTILINE)
    )
    assert table == set(_ids())


def _ids() -> list[str]:
    """Return the first argument of every Finding in the code."""
    found = []
    for path in sorted((ROOT / "evencore/doctor").glob("*.py")):
        tree = ast.parse(path.read_text())
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Finding":
                (first, *_) = call.args
                if isinstance(first, ast.Constant):
                    found.append(str(first.value))
    return [*found, "cabundle-mismatch", "certificate-expired", "certificate-name"]


def test_every_key_for_machines_is_on_the_page() -> None:
    value = json.loads(doctor("-o", "json").stdout)
    keys = set(value) | set(value["findings"][0])
    assert [key for key in sorted(keys) if f"`{key}`" not in PAGE and f"`.{key}`" not in PAGE] == []


def test_json_has_all_findings_and_people_see_a_few_of_each_kind() -> None:
    many = []
    for number in range(9):
        made = pod(f"many-{number}").metadata(namespace="shop")
        made.annotate("evencore.io/original-cpu", "{}")
        made.obj["status"] = {"phase": "Running", "qosClass": "Burstable"}
        many.append(made.obj)
    shown = doctor(fake=Fake(*many)).stdout
    assert shown.count("(pinning-lost)") == 3
    assert "  and 7 more like this: -o json\n" in shown
    found = json.loads(doctor("-o", "json", fake=Fake(*many)).stdout)["findings"]
    assert sum(one["id"] == "pinning-lost" for one in found) == 10


def test_lines_fit_120_columns_but_for_commands_which_are_to_be_copied() -> None:
    lines = doctor().stdout.splitlines()
    assert max(len(line) for line in lines if not line.startswith("  $ ")) <= 120


def test_colour_is_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in doctor(colour=True).stdout
    monkeypatch.setattr("evencore.doctor_command.colour_wanted", lambda: True)
    assert "\x1b[31merror\x1b[0m" in doctor(colour=True).stdout


def test_names_cannot_steer_the_terminal() -> None:
    evil = pod("\x1b[2J").metadata(namespace="shop").annotate("evencore.io/original-cpu", "{}")
    evil.obj["status"] = {"phase": "Running", "qosClass": "Burstable"}
    assert "\x1b" not in doctor(fake=Fake(evil.obj)).output


@pytest.mark.parametrize("args", [("--policy", "nowhere.yaml"), ("-o", "wide"), ("x",)])
def test_wrong_usage_is_2(args: tuple[str, ...]) -> None:
    assert doctor(*args).exit_code == 2
