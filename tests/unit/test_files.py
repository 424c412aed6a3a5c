"""Files that people hand over are read as kubectl reads them, and all problems told at once."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from evencore import files
from evencore.domain.objects import Source
from evencore.files import InputError, read_document, read_documents
from evencore.kubeyaml import MOST_ALIASED, YamlError, plain, read_yaml

if TYPE_CHECKING:
    from pathlib import Path


def read(text: str) -> list[object]:
    return [document.value for document in read_yaml(text)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2", 2),
        ("-3", -3),
        ("+3", 3),
        ("9007199254740993", 9007199254740993),  # no double has this value
        ("18446744073709551616", 18446744073709551616),
        ("1_000", 1000),
        ("010", 8),
        ("0o10", 8),
        ("0x10", 16),
        ("-0b11", -3),
        # As floats these would lose digits, or their spelling.
        ("2.5", "2.5"),
        ("4.001", "4.001"),
        ("1e3", "1e3"),
        ("1.", "1."),
        (".5", ".5"),
        ("08", "08"),
        ("1_000.5", "1000.5"),
        # Sixty-based numbers and dates of YAML 1.1 are text to kubectl.
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("2026-03-01", "2026-03-01"),
        ("2026-03-01T10:40:00Z", "2026-03-01T10:40:00Z"),
        ("2500m", "2500m"),
        ("1Gi", "1Gi"),
        ("_1", "_1"),
        ("0x", "0x"),
        ("-", "-"),
        ("1" * 5000, "1" * 5000),  # Python refuses to make a number of it
        ("yes", True),
        ("Y", True),
        ("on", True),
        ("off", False),
        ("n", False),
        ("yEs", "yEs"),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
    ],
)
def test_a_plain_word_means_what_it_means_to_kubectl(text: str, want: object) -> None:
    assert plain(text) == want
    assert type(plain(text)) is type(want)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("a: '2'\nb: \"on\"\n", [{"a": "2", "b": "on"}], id="quoted is text"),
        pytest.param("a: |\n  2\n", [{"a": "2\n"}], id="a block is text"),
        pytest.param("a: !!str 2\n", [{"a": "2"}], id="tagged as text"),
        pytest.param("a: !!float 3\n", [{"a": 3}], id="an integer may be tagged a float"),
        pytest.param("a: !own 2.5\n", [{"a": "2.5"}], id="a tag of somebody's own"),
        pytest.param("on: 1\n2: x\n1.5: z\n", [{"true": 1, "2": "x", "1.5": "z"}], id="keys"),
        pytest.param("a: 1\na: 2\n", [{"a": 2}], id="the last of two equal keys counts"),
        pytest.param("--- 1\n--- 2\n...\n--- {a: [1]}\n", [1, 2, {"a": [1]}], id="documents"),
        pytest.param("---\n# only words\n---\n", [None, None], id="empty documents"),
        pytest.param("a: &x {c: 1}\nb: *x\n", [{"a": {"c": 1}, "b": {"c": 1}}], id="alias"),
        pytest.param(
            "a: &x {c: 1, d: 1}\nb: {<<: *x, d: 2}\n",
            [{"a": {"c": 1, "d": 1}, "b": {"c": 1, "d": 2}}],
            id="merge",
        ),
        pytest.param("{<<: [{a: 1}, {a: 2, b: 2}]}", [{"a": 1, "b": 2}], id="merge of several"),
        pytest.param('"<<": 1\n', [{"<<": 1}], id="a quoted << is a key"),
    ],
)
def test_yaml(text: str, want: object) -> None:
    assert read(text) == want


def bomb(levels: int) -> str:
    """Make a text of which each line is ten times the one before."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("a: 1\nb: [c\n", "line 3, column 1: did not find", id="syntax"),
        pytest.param("a: &a [*a]", "line 1, column 8: anchor 'a' contains itself", id="recursive"),
        pytest.param("a: *b", "line 1, column 4: unknown anchor 'b'", id="unknown anchor"),
        pytest.param(bomb(9), f"aliases stand for more than {MOST_ALIASED} values", id="bomb"),
        pytest.param("a: 1\n[b]: c", "line 2, column 1: a key must be text", id="a list as key"),
        pytest.param("~: c", "line 1, column 1: a key must be text", id="null as key"),
        pytest.param("a: !!int x", "line 1, column 4: 'x' is no !!int", id="wrong tag"),
        pytest.param("a: !!float x", "'x' is no !!float", id="text that is tagged a float"),
        pytest.param("a: 1\nb: \x01", "line 2, column 4: control characters", id="control"),
        pytest.param("[" * 5000, "exceeded maximum nesting depth", id="too deep"),
        pytest.param("<<: 1", "<< takes a map", id="merge of a number"),
    ],
)
def test_wrong_yaml_is_told_with_its_place(text: str, want: str) -> None:
    with pytest.raises(YamlError) as caught:
        read(text)
    assert want in str(caught.value)


def test_json_keeps_numbers_and_documents_may_follow_each_other(tmp_path: Path) -> None:
    file = tmp_path / "dump.json"
    file.write_text('{"cpu": 4.001, "n": 9007199254740993}\n\n {"e": 1e3} [{"a": 1}, {"a": 2}]\n')
    documents = read_documents([str(file)])
    assert [document.value for document in documents] == [
        {"cpu": "4.001", "n": 9007199254740993},
        {"e": "1e3"},
        {"a": 1},  # a list at the top is its items
        {"a": 2},
    ]
    assert [document.source for document in documents] == [
        Source(str(file), 1, 1, only=False),
        Source(str(file), 2, 3, only=False),
        Source(str(file), 3, 3, only=False),
        Source(str(file), 3, 3, only=False),
    ]


def test_documents_know_their_line_which_is_not_that_of_the_dashes(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text("a: 1\n---\n# words\n\nb: 1\n---\n---\nc: 1\n")
    documents = read_documents([str(file)])
    assert [str(document.source).removeprefix(str(file)) for document in documents] == [
        ", document 1, line 1",
        ", document 2, line 5",
        ", document 4, line 8",
    ]


def test_a_file_with_one_document_is_place_enough(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text("\ufeffa: 1\n", encoding="utf-8")  # a byte order mark does no harm
    (document,) = read_documents([str(file)])
    assert document.value == {"a": 1}
    assert str(document.source) == str(file)


def test_half_a_character_becomes_the_sign_for_one() -> None:
    """As in Go; nothing that we write could hold it."""
    (document,) = read_documents(["-"], io.BytesIO(b'{"a\\ud800": ["\\udc00b", "\\ud83d\\ude00"]}'))
    assert document.value == {"a\ufffd": ["\ufffdb", "\U0001f600"]}


def test_stdin_is_read_as_any_file() -> None:
    (document,) = read_documents(["-"], io.BytesIO(b"cpu: 2.5"))
    assert document.value == {"cpu": "2.5"}
    assert str(document.source) == "stdin"


def test_yaml_in_braces_is_read_as_kubectl_does() -> None:
    (document,) = read_documents(["-"], io.BytesIO(b"{a: b}"))
    assert document.value == {"a": "b"}


@pytest.mark.parametrize(
    ("content", "want"),
    [
        pytest.param(b"", "it is empty", id="empty"),
        pytest.param(b"# words\n---\n", "it is empty", id="only comments"),
        pytest.param(b"a: \xff", "line 1: it is not UTF-8 text", id="not UTF-8"),
        pytest.param("a: 1".encode("utf-16"), "it is UTF-16; save it as UTF-8", id="UTF-16"),
        pytest.param(b'{"a": 1,\n "b" 2}', "line 2, column 6: this is no JSON", id="JSON"),
        pytest.param(b'{"a": NaN}}', "cannot be read: NaN is not JSON", id="NaN"),
        pytest.param(b"[" * 100_000, "it is nested too deeply", id="deep JSON"),
        pytest.param(b'{"a": ' + b"1" * 5000 + b"]", "a number in it cannot be read", id="digits"),
        pytest.param(b"a:\n  b: {{ .Values.x }}\n", "helm template", id="template"),
        pytest.param(b"{{- if x }}\na: b\n", "helm template", id="template that begins with one"),
    ],
)
def test_a_file_that_cannot_be_used(content: bytes, want: str) -> None:
    with pytest.raises(InputError) as caught:
        read_documents(["-"], io.BytesIO(content))
    (problem,) = caught.value.problems
    assert problem.startswith("stdin: ")
    assert want in problem


def test_a_file_that_is_too_large_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 8)
    stdin = io.BytesIO(b"a: 1\nb: 2\n")
    with pytest.raises(InputError, match="larger than"):
        read_documents(["-"], stdin)
    assert stdin.tell() == 9


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("a: [")
    with pytest.raises(InputError) as caught:
        read_documents([str(tmp_path / "none.yaml"), str(tmp_path), str(wrong), "a\0b"])
    told = [problem.replace(f"{tmp_path}", "DIR") for problem in caught.value.problems]
    assert told == [
        "DIR/none.yaml: there is no such file",
        "DIR: it is a directory; name the files in it",
        "DIR/wrong.yaml: line 2, column 1: did not find expected node content",
        "a\0b: it cannot be read: embedded null byte",
    ]


def test_stdin_cannot_be_read_twice() -> None:
    with pytest.raises(InputError, match="read only once"):
        read_documents(["-", "-"], io.BytesIO(b"a: 1"))


def test_a_closed_stdin_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="stdin: it is closed"):
        read_documents(["-"])


@pytest.mark.parametrize(("text", "count"), [("[]", 0), ("a: 1\n---\nb: 2\n", 2)])
def test_one_document_is_neither_none_nor_two(tmp_path: Path, text: str, count: int) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"a policy is one document, and these are {count}"):
        read_document(str(file), "a policy")


DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 2}\n"
OTHER_KINDS = {
    "a manifest": ("a policy", DEPLOYMENT, "a manifest (kind Deployment)"),
    "several manifests": ("a scenario", f"{DEPLOYMENT}---\n{DEPLOYMENT}", "a manifest (kind Depl"),
    "a dump": ("a node file", "apiVersion: v1\nkind: List\nitems: []", "a manifest (kind List)"),
    "a scenario, which may have nodes": ("a node file", "steps: []\nnodes: [{name: a}]", None),
    "a scenario as a policy": ("a policy", "for: 1m\nsteps: []", "a scenario"),
    "a node file": ("a policy", "nodes: [{name: a}]", "a node file"),
    "a policy": ("a scenario", "cpu: warn\nholds: {}", "a policy"),
    "a policy with a key that is none of it": ("a policy", "cpu: warn\nnodes: []", None),
    "only what nobody knows": ("a policy", "colour: red", None),
    "no map": ("a policy", "certainly", None),
}


@pytest.mark.parametrize(("what", "text", "it_is"), OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_a_file_of_another_kind_is_told_in_one_sentence(
    what: str, text: str, it_is: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    if it_is is None:  # certain enough is only what has nothing of the kind that is wanted
        assert read_document(str(file), what).value == read(text)[0]
        return
    with pytest.raises(InputError) as caught:
        read_document(str(file), what)
    [problem] = caught.value.problems
    assert problem.startswith(f"{file}: this is {it_is}")
    assert problem.endswith(f", not {what}")
