"""Settings of the controller that are about certificates, and what they become."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from certs_cluster import Cluster
from click.testing import CliRunner

from certs.aims import Aims
from controller.certificates import aims_of
from evencore.cli import main
from evencore.flags import load
from evencore.settings import ControllerSettings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_defaults_are_for_the_service_in_our_namespace() -> None:
    aims = aims_of(ControllerSettings())
    assert aims == Aims(names=frozenset({"evencore-webhook.evencore-system.svc"}))


def test_names_times_and_service_are_set_by_flags_and_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVENCORE_CERT_NAMES", "10.0.0.1, dev.example")
    monkeypatch.setenv("EVENCORE_CERT_LIFE", "48h")
    flags = {"namespace": "n", "webhook_service": "s", "ca_life": "200h"}
    settings, problems = load(ControllerSettings, flags)
    assert problems == []
    aims = aims_of(settings)
    assert aims.names == {"s.n.svc", "10.0.0.1", "dev.example"}
    assert (aims.authority_life, aims.leaf_life) == (timedelta(hours=200), timedelta(hours=48))


WRONG = {
    "no duration": (["--cert-life", "30 days"], "--cert-life (or EVENCORE_CERT_LIFE): "),
    "another keeper": (["--certs", "mine"], "must be 'self' or 'external'"),
    "times that contradict each other": (
        ["--cert-life", "5000h"],
        "is more than a third of its authority's",
    ),
}


@pytest.mark.parametrize(("flags", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_setting_ends_the_controller_with_2_and_is_named(
    tmp_path: Path, flags: list[str], words: str
) -> None:
    with Cluster(tmp_path) as cluster:
        said = CliRunner().invoke(
            main, ["controller", "--kubeconfig", str(cluster.kubeconfig), *flags]
        )
    assert said.exit_code == 2
    assert words in said.output
