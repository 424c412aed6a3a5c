"""What docs/install.md tells people to do, done: kustomizations build, and its commands work."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from deployment.manifests import COMPONENTS, DEPLOY, ROOT, kustomize
from simulator_kubectl import Kubectl
from simulator_support import pod

from evencore.domain import names
from simulator.server import ApiServer

if TYPE_CHECKING:
    from pathlib import Path

PAGE: Final = (ROOT / "docs" / "install.md").read_text()


def _kustomization(here: Path) -> dict[str, Any]:
    """Return the one that people are to write, with our files instead of a repository's."""
    [written] = re.findall(r"<<END\n(.*?)END\n", PAGE, re.DOTALL)
    base = re.escape("https://REPOSITORY//deploy/base?ref=v0.1.0")
    found: dict[str, Any] = yaml.safe_load(
        re.sub(base, os.path.relpath(DEPLOY / "base", here), written)
    )
    return found


def _built(here: Path, content: dict[str, Any]) -> list[dict[str, Any]]:
    (here / "kustomization.yaml").write_text(yaml.safe_dump(content))
    return list(yaml.safe_load_all(kustomize(here)))


def test_the_kustomization_takes_the_image_that_was_pushed(tmp_path: Path) -> None:
    here = tmp_path.resolve()
    made = _built(here, _kustomization(here))
    images = {
        one["image"]
        for obj in made
        if obj["kind"] == "Deployment"
        for one in obj["spec"]["template"]["spec"]["containers"]
    }
    assert images == {"REGISTRY/evencore:0.1.0"}


def test_a_policy_file_beside_it_replaces_ours_and_is_what_is_mounted(tmp_path: Path) -> None:
    here = tmp_path.resolve()
    [written] = re.findall(r"```yaml\n(configMapGenerator:.*?)```", PAGE, re.DOTALL)
    (here / "policy.yaml").write_text("onRejection: exclude\n")
    made = _built(here, _kustomization(here) | yaml.safe_load(written))
    [policy] = [obj for obj in made if obj["kind"] == "ConfigMap"]
    assert policy["data"] == {"policy.yaml": "onRejection: exclude\n"}
    mounted = {
        volume["configMap"]["name"]
        for obj in made
        if obj["kind"] == "Deployment"
        for volume in obj["spec"]["template"]["spec"]["volumes"]
        if "configMap" in volume
    }
    assert mounted == {policy["metadata"]["name"]}


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_component_is_on_the_page(component: str) -> None:
    assert f"`{component}`" in PAGE
    assert (DEPLOY / "components" / component).is_dir()


def test_there_is_no_component_that_no_test_builds() -> None:
    assert {path.name for path in (DEPLOY / "components").iterdir()} == set(COMPONENTS)


def test_the_last_command_lets_a_held_pod_go_and_leaves_the_gates_of_others(
    tmp_path: Path,
) -> None:
    [line] = [one for one in PAGE.splitlines() if "patch pod NAME" in one]
    command = shlex.split(line.replace("NAMESPACE", "default").replace("NAME", "p"))
    held = pod(schedulingGates=[{"name": names.HOLD}, {"name": "example.com/other"}])
    with ApiServer() as server:
        kubectl = Kubectl(server, tmp_path)
        kubectl("create", "-f", "-", stdin=json.dumps(held))
        kubectl(*command[1:])
        after = json.loads(kubectl("get", "pod", "p", "-o", "json"))
    assert after["spec"]["schedulingGates"] == [{"name": "example.com/other"}]
