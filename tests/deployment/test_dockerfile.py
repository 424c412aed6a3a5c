"""The image: small in what it holds, not root, and made of what is in the repository."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Final

import pytest
from deployment.dockerfile import parse
from deployment.manifests import ROOT, container, pod_spec
from deployment.scripts import script
from packaging.requirements import Requirement

from evencore.cli import main

if TYPE_CHECKING:
    from deployment.dockerfile import Stage

FILE: Final = parse((ROOT / "Dockerfile").read_text())
BUILD, FINAL = FILE.stages
PYPROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: Final = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def test_what_is_no_instruction_is_noticed() -> None:
    with pytest.raises(ValueError, match="no instruction: INSTALL"):
        parse("FROM a AS b\nINSTALL\n")


@pytest.mark.parametrize("stage", FILE.stages, ids=["build", "final"])
def test_each_base_image_is_an_argument_that_a_digest_fits_into(stage: Stage) -> None:
    match = re.fullmatch(r"\$\{([A-Z_]+)\}", stage.image)
    assert match is not None, stage.image
    default = FILE.arguments[match[1]]
    assert re.fullmatch(r"[a-z0-9./-]+:[0-9][a-z0-9.-]+", default), "a whole name, never latest"


def test_both_stages_have_the_same_python() -> None:
    assert FILE.arguments["BUILD_IMAGE"] == FILE.arguments["RUNTIME_IMAGE"]


def test_it_does_not_run_as_root_and_kubelets_can_tell() -> None:
    user, group = FINAL.only("USER").text.split(":")
    assert int(user) > 0
    assert int(group) > 0
    for which in ("webhook", "controller"):
        # A number in the image, none in the manifest: OpenShift chooses one.
        assert "runAsUser" not in pod_spec(which)["securityContext"]


def test_it_stops_by_the_signal_that_is_listened_for() -> None:
    assert FINAL.only("STOPSIGNAL").text == "SIGTERM"


def test_its_entry_point_is_the_command_line_without_a_shell() -> None:
    assert FINAL.only("ENTRYPOINT").text.startswith("[")
    assert FINAL.only("ENTRYPOINT").words == ["evencore"]
    assert PYPROJECT["project"]["scripts"] == {"evencore": "evencore.__main__:run"}


@pytest.mark.parametrize("which", ["webhook", "controller"])
def test_the_deployments_start_commands_that_there_are(which: str) -> None:
    only = container(which)
    assert "command" not in only, "the image's entry point"
    command = main.get_command(None, only["args"][0])  # type: ignore[arg-type]
    assert command is not None
    flags = {flag for param in command.params for flag in param.opts}
    assert {arg.partition("=")[0] for arg in only["args"][1:]} <= flags


def test_no_build_tool_gets_into_the_final_stage() -> None:
    for copied in FINAL.all("COPY"):
        assert copied.words == ["--from=build", "/opt/evencore", "/opt/evencore"]
    for ran in FINAL.all("RUN"):
        assert ran.words[0] == "rm", ran
    assert "pip uninstall --yes pip" in BUILD.all("RUN")[-1].text


def test_the_build_copies_exactly_what_the_wheel_is_made_of() -> None:
    copied = {word for one in BUILD.all("COPY") for word in one.words[:-1]}
    locks = {"requirements.lock", "requirements-build.lock"}
    assert copied == {"README.md", "pyproject.toml", *locks, *PACKAGES}
    let_in = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in let_in if line.startswith("!")} == copied
    assert "*" in let_in


def test_it_listens_where_the_deployments_say() -> None:
    ports = {container(which)["ports"][0]["containerPort"] for which in ("webhook", "controller")}
    assert {int(port) for port in FINAL.only("EXPOSE").words} == ports


def test_nothing_is_written_that_a_read_only_file_system_refuses() -> None:
    environment = " ".join(one.text for one in FINAL.all("ENV"))
    assert "PYTHONDONTWRITEBYTECODE=1" in environment
    assert "compileall" in BUILD.all("RUN")[-1].text, "or each start would compile it all"


def _locked(file: str) -> dict[str, tuple[str, int]]:
    """Return what a lock file pins: name → version and number of hashes."""
    text = (ROOT / file).read_text().replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            pinned, *hashes = line.split()
            assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), line
            name, number = pinned.split("==")
            found[name] = (number, len(hashes))
    return found


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("requirements.lock", PYPROJECT["project"]["dependencies"]),
        ("requirements-build.lock", PYPROJECT["build-system"]["requires"]),
    ],
)
def test_the_lock_files_have_what_the_project_wants_by_hash(file: str, wanted: list[str]) -> None:
    locked = _locked(file)
    assert all(hashes for _, hashes in locked.values())
    for text in wanted:
        one = Requirement(text)
        assert one.specifier.contains(locked[one.name.lower()][0]), f"{text}: run make lock"


def test_the_lock_file_has_all_that_comes_with_it() -> None:
    """As it is installed here: what one package needs is in the file, too, or pip would refuse."""
    come = script("audit").closure("evencore")
    assert come.keys() == _locked("requirements.lock").keys()


def test_nothing_goes_into_the_image_without_its_hash() -> None:
    for ran in FILE.stages[0].all("RUN"):
        for install in re.findall(r"pip install ([^&]+)", ran.text):
            hashed = "--require-hashes" in install and "--only-binary :all:" in install
            assert hashed or ("--no-deps /tmp/wheel/*.whl" in install), install
