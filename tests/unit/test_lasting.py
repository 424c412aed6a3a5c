"""What lasts is made without collections of garbage, and none walks it later."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from evencore.lasting import lasting

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
