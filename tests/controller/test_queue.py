"""The work queue: each key once, when it is due, and never to two workers."""

from __future__ import annotations

import threading
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from controller_parts import Time
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from controller.queue import CEILING_S, FIRST_S, Key, Queue

if TYPE_CHECKING:
    from collections.abc import Callable

A, B = Key("owner", "a"), Key("owner", "b")
PATIENCE_S = 30.0


@pytest.fixture
def queue(time: Time) -> Queue:
    return Queue(time)


def test_a_key_that_is_added_twice_is_handed_out_once(queue: Queue) -> None:
    queue.add(A)
    queue.add(B)
    queue.add(A)
    assert [queue.get(), queue.get(), len(queue)] == [A, B, 0]


def test_the_earlier_time_counts(queue: Queue, time: Time) -> None:
    queue.add(A, 10)
    queue.add(B, 5)
    queue.add(A, 1)
    queue.add(A, 20)
    time.now += 1
    assert queue.get() == A
    time.now += 30
    assert queue.get() == B
    assert len(queue) == 0


def test_a_key_that_is_added_while_somebody_has_it_comes_again_afterwards(queue: Queue) -> None:
    queue.add(A)
    queue.get()
    queue.add(A)
    queue.add(B)
    assert (queue.get(), len(queue)) == (B, 0)
    queue.done(A)
    assert queue.get() == A


def test_each_failure_waits_twice_as_long_and_a_success_starts_over(
    queue: Queue, time: Time
) -> None:
    queue.add(A)
    waits = []
    for _ in range(9):
        time.now += CEILING_S
        assert queue.get() == A
        waits.append(queue.failed(A))
    assert waits[:3] == [FIRST_S, 2 * FIRST_S, 4 * FIRST_S]
    assert waits[-1] == CEILING_S
    time.now += CEILING_S
    queue.get()
    queue.done(A)
    queue.add(A)
    queue.get()
    assert queue.failed(A) == FIRST_S


def test_what_comes_while_a_key_fails_does_not_cut_its_wait_short(queue: Queue) -> None:
    queue.add(A)
    queue.get()
    queue.add(A)
    queue.failed(A)
    queue.add(B)
    assert queue.get() == B
    assert len(queue) == 1


def _in_threads(number: int, work: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    return threads


def test_all_who_wait_go_home_when_it_stops() -> None:
    queue, got = Queue(), list[Key | None]()
    threads = _in_threads(3, lambda: got.append(queue.get()))
    queue.stop()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert got == [None, None, None]
    queue.add(A)
    assert queue.get() is None


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("delays_s", [*permutations((0.0, 0.001, 0.003, 0.01))])
def test_each_key_is_handed_out_though_only_a_new_first_one_wakes_a_worker(
    workers: int, delays_s: tuple[float, ...]
) -> None:
    queue, got, everything = Queue(), set[Key](), threading.Event()

    def work() -> None:
        while (key := queue.get()) is not None:
            got.add(key)
            queue.done(key)
            if len(got) == len(delays_s):
                everything.set()

    threads = _in_threads(workers, work)
    for delay_s in delays_s:
        queue.add(Key("owner", str(delay_s)), delay_s)
    assert everything.wait(PATIENCE_S)
    queue.stop()
    for thread in threads:
        thread.join(PATIENCE_S)


def test_many_workers_share_the_keys_and_no_two_have_the_same_one() -> None:
    queue, lock, has, done, twice = Queue(), threading.Lock(), set[Key](), list[Key](), list[Key]()
    everything = threading.Event()

    def work() -> None:
        while (key := queue.get()) is not None:
            with lock:
                if key in has:
                    twice.append(key)
                has.add(key)
            with lock:
                has.discard(key)
                done.append(key)
                if len(set(done)) == 50:
                    everything.set()
            queue.done(key)

    threads = _in_threads(8, work)
    for _ in range(20):
        for number in range(50):
            queue.add(Key("owner", str(number)), number % 3 / 1000)
    assert everything.wait(PATIENCE_S)
    queue.stop()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not twice


class Model(RuleBasedStateMachine):
    """The queue beside the plainest thing that does the same: two dicts and a look at all keys."""

    def __init__(self) -> None:
        super().__init__()
        self.time = Time()
        self.queue = Queue(self.time)
        self.due: dict[Key, float] = {}
        self.working: dict[Key, float | None] = {}

    @rule(name=st.sampled_from("abc"), after=st.integers(0, 5))
    def add(self, name: str, after: int) -> None:
        key, due = Key("owner", name), self.time.now + after
        self.queue.add(key, after)
        if key in self.working:
            again = self.working[key]
            self.working[key] = due if again is None else min(due, again)
        else:
            self.due[key] = min(due, self.due.get(key, due))

    @rule(seconds=st.integers(1, 5))
    def wait(self, seconds: int) -> None:
        self.time.now += seconds

    @precondition(lambda self: any(due <= self.time.now for due in self.due.values()))
    @rule()
    def get(self) -> None:
        key = self.queue.get()
        assert key is not None
        assert key not in self.working
        assert self.due.pop(key) <= self.time.now
        self.working[key] = None

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        again = self.working.pop(key)
        self.queue.done(key)
        if again is not None:
            self.due[key] = again

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def failed(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        del self.working[key]
        self.due[key] = self.time.now + self.queue.failed(key)

    @invariant()
    def as_many_wait(self) -> None:
        assert len(self.queue) == len(self.due)


TestAsTheModel = Model.TestCase
