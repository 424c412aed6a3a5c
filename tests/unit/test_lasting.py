"""What lasts is made without collections of garbage, and none walks it later."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from evencore.lasting import SELDOM, collect_seldom, lasting

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Leave nothing frozen to other tests."""
    yield
    gc.unfreeze()


def test_nothing_is_collected_while_it_is_made_and_it_is_walked_no_more() -> None:
    with lasting():
        assert not gc.isenabled()
        made = [[]]

    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
    assert not any(it is made for it in gc.get_objects())


def test_collections_go_on_if_it_cannot_be_made() -> None:
    with pytest.raises(ImportError), lasting():
        raise ImportError("No module named 'flask'")

    assert gc.isenabled()


def test_who_takes_in_much_looks_for_garbage_seldom() -> None:
    before = gc.get_threshold()
    try:
        collect_seldom()
        assert gc.get_threshold()[0] == SELDOM
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
