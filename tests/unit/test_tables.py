"""Tables: columns as wide as they must be, the last one wrapped, nothing that steers a terminal."""

from __future__ import annotations

from evencore.tables import RED, Pen, Row, table

PLAIN, COLOUR = Pen(False), Pen(True)


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [Row(("a", "bbbbbb", "c")), Row(("aaaa", "b", "c"))]
    assert list(table(("X", "Y", "Z"), rows, PLAIN)) == [
        "X     Y       Z",
        "a     bbbbbb  c",
        "aaaa  b       c",
    ]


def test_the_last_column_and_what_is_below_are_wrapped() -> None:
    rows = [Row(("a", "some words that are too long"), below=["and a sentence about them"])]
    assert list(table(("X", "Y"), rows, PLAIN, 20)) == [
        "X  Y",
        "a  some words that are",
        "   too long",
        "  → and a sentence",
        "    about them",
    ]
    assert list(table(("X", "Y"), rows, PLAIN, None))[1] == "a  some words that are too long"


def test_colour_does_not_move_columns() -> None:
    rows = [Row(("a", "b", "c"), 0, RED), Row(("aa", "b", "c"))]
    shown = list(table(("X", "Y", "Z"), rows, COLOUR))
    assert shown[1] == "\x1b[31ma\x1b[0m   b  c"
    assert shown[2] == "aa  b  c"


def test_names_cannot_steer_the_terminal() -> None:
    (_, line, below) = table(("X", "Y"), [Row(("\x1b[2J", "\a"), below=["\r"])], PLAIN)
    assert (line, below) == ("?[2J  ?", "  → ?")


def test_a_table_without_rows_is_its_titles() -> None:
    assert list(table(("X", "Y"), [], PLAIN)) == ["X  Y"]
