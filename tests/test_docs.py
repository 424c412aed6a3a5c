"""README and docs say what is there: links lead somewhere, no setting is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evencore.domain import names
from evencore.domain.policy import Policy
from evencore.domain.written import keys
from evencore.files import read_document
from evencore.flags import PREFIX
from evencore.settings import ControllerSettings, WebhookSettings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = PAGES[0].read_text()
POLICY = (ROOT / "docs" / "policy.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("setting", keys(WebhookSettings))
def test_every_setting_of_the_webhook_is_on_its_page_with_flag_and_variable(setting: str) -> None:
    page = (ROOT / "docs" / "serving.md").read_text()
    assert f"`--{setting.replace('_', '-')}`" in page
    assert f"`{PREFIX}{setting.upper()}`" in page


@pytest.mark.parametrize("setting", keys(ControllerSettings))
def test_every_setting_of_the_controller_is_on_its_page(setting: str) -> None:
    page = (ROOT / "docs" / "controller.md").read_text()
    assert f"`--{setting.replace('_', '-')}`" in page


@pytest.mark.parametrize("key", keys(Policy))
def test_every_key_of_the_policy_file_is_on_its_page(key: str) -> None:
    assert re.search(rf"`{key}[`.]", POLICY)


def test_the_example_of_a_policy_file_is_one(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", POLICY, re.DOTALL)
    (tmp_path / "policy.yaml").write_text(example)
    Policy.from_mapping(read_document(str(tmp_path / "policy.yaml"), "a policy").value)


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in pages if index.count(f"({name}): ") != 1} == set()


@pytest.mark.parametrize("annotation", [names.CPU, names.TOPOLOGY, names.ON_REJECTION])
def test_every_annotation_is_in_the_readme_and_on_its_page(annotation: str) -> None:
    assert f"| `{annotation}`" in README
    assert f"| `{annotation}` |" in POLICY


def test_the_way_of_a_pod_names_files_that_exist() -> None:
    way = README.partition("## How a pod travels")[2].partition("```")[2].partition("```")[0]
    files = re.findall(r"[a-z_]+\.py", way)
    here = {
        path.name for folder in ("evencore", "webhook") for path in ROOT.glob(f"{folder}/**/*.py")
    }
    assert [file for file in files if file not in here] == []
    assert len(files) > 10


FOLDERS = {
    "certs": "certificates",
    "controller": "controller",
    "evencore": "architecture",
    "evencore/domain": "architecture",
    "evencore/domain/kubelet": "kubelet",
    "evencore/kube": "api-server",
    "webhook": "serving",
}


@pytest.mark.parametrize(("folder", "page"), FOLDERS.items(), ids=FOLDERS)
def test_every_file_has_its_idea_told_on_the_page_of_its_folder(folder: str, page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    stems = {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__"}
    assert {stem for stem in stems if not re.search(rf"\b{stem}(\.py)?`", text)} == set()


def test_every_name_that_users_see_is_in_one_table_and_no_other() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.partition("## Names that users see")[2].partition("\n## ")[0]
    told = set(re.findall(r"`(evencore\.io/[a-z-]+|[A-Z][A-Za-z]+)[`.]", table))
    values = {value for value in vars(names).values() if isinstance(value, str)}
    ours = {value.rstrip(".") for value in values if re.match(r"evencore\.io/.|[A-Z]\w+$", value)}
    assert told == ours
    assert {"evencore.io/hold", "PodHeld"} <= told
