"""Fetches of many partitions whose records are not in memory."""

from __future__ import annotations

import pytest

from application.partitions.pending_fetch import LOOK_AGAIN_MS, MOST_LOADING
from application.ports.pending import Pending
from domain.errors import StorageFailed
from tests.fakes.broker import FlakyLogStore, with_topic
from tests.unit.application.partitions.test_fetch import MANY, Fetch, fill, item, query

PARTITIONS = 40


class Cold:
    """A topic of which each partition is loaded by itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake = with_topic(PARTITIONS)
        for index in range(PARTITIONS):
            fill(self.fake, index, 1)
        self.index_of = {one: at for at, one in enumerate(self.fake.existing().partition_ids)}
        self.warm: set[int] = set()
        #: Reads of these fail.
        self.broken: set[int] = set()
        #: Reads that are under way, by partition.
        self.asked: list[tuple[int, Pending[None]]] = []

        def is_loaded(log: FlakyLogStore, call: str, partition_id: int) -> bool:
            index = self.index_of[partition_id]
            if index in self.broken:
                self.broken.discard(index)
                raise StorageFailed("no bucket")
            return index in self.warm

        def begin(log: FlakyLogStore, partition_id: int) -> Pending[None]:
            self.asked.append((self.index_of[partition_id], Pending()))
            return self.asked[-1][1]

        monkeypatch.setattr(FlakyLogStore, "_is_loaded", is_loaded)
        monkeypatch.setattr(FlakyLogStore, "_load", begin)

    def load(self) -> list[int]:
        """What was asked for; until then nothing else is."""
        asked, self.asked = self.asked, []
        self.warm.update(index for index, _ in asked)
        for _, pending in asked:
            pending.resolve(None)
        return [index for index, _ in asked]


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> Cold:
    return Cold(monkeypatch)


def test_a_fetch_begins_only_reads_that_its_response_has_room_for(cold: Cold) -> None:
    items = [item(index) for index in range(PARTITIONS)]
    fetch = Fetch(cold.fake, query(*items, max_bytes=2 * MANY))
    assert [index for index, _ in cold.asked] == [0, 1]
    assert cold.load() == [0, 1]
    assert fetch.waits and [index for index, _ in cold.asked] == [2, 3]  # there was room left
    cold.fake.scheduler.advance(500)
    assert fetch.offsets()[:5] == [[0], [0], [], [], []]
    assert fetch.got is not None and [one.high_watermark for one in fetch.got] == [2] * PARTITIONS


def test_a_fetch_begins_a_few_reads_at_once(cold: Cold) -> None:
    """Of one partition, too, which a request may name any number of times."""
    for items in ([item(0, max_bytes=1)] * 5000, [item(at) for at in range(PARTITIONS)]):
        fetch = Fetch(cold.fake, query(*items, max_bytes=PARTITIONS * MANY))
        assert len(cold.asked) == MOST_LOADING
        fetch.pending.abandon()
        cold.asked.clear()


@pytest.mark.parametrize("max_bytes", [MANY, 1])
def test_each_partition_is_served_when_it_is_the_first_one(cold: Cold, max_bytes: int) -> None:
    """Clients rotate them."""
    order = list(range(PARTITIONS))
    for index in range(PARTITIONS):
        fetch = Fetch(cold.fake, query(*map(item, order), max_bytes=max_bytes))
        cold.load()
        cold.fake.scheduler.advance(500)
        assert fetch.offsets()[0] == [0]
        cold.warm.discard(index)
        order.append(order.pop(0))


def test_records_in_memory_behind_others_that_load_for_long_are_found(cold: Cold) -> None:
    cold.warm.add(5)
    fetch = Fetch(cold.fake, query(*map(item, range(6)), max_bytes=MANY))
    cold.fake.scheduler.advance(499)
    assert fetch.waits and {index for index, _ in cold.asked} == {0}
    cold.fake.scheduler.advance(1)
    assert fetch.offsets() == [[]] * 5 + [[0]]


@pytest.mark.parametrize("max_bytes", [PARTITIONS * MANY, MANY, 1])
def test_records_in_memory_behind_any_number_of_others_are_found(
    cold: Cold, max_bytes: int
) -> None:
    """Each fetch has them, though the others load for longer than it waits."""
    cold.warm.add(PARTITIONS - 1)
    for _ in range(3):
        cold.asked.clear()
        fetch = Fetch(cold.fake, query(*map(item, range(PARTITIONS)), max_bytes=max_bytes))
        cold.fake.scheduler.advance(500)
        assert fetch.offsets() == [[]] * (PARTITIONS - 1) + [[0]]
        assert len({index for index, _ in cold.asked}) <= MOST_LOADING + 1


@pytest.mark.parametrize("loading", [0, MOST_LOADING])
def test_an_error_in_front_hides_no_records_in_memory(cold: Cold, loading: int) -> None:
    """A response with an error waits for nothing."""
    cold.broken.add(loading)
    cold.warm.add(PARTITIONS - 1)
    fetch = Fetch(cold.fake, query(*map(item, range(PARTITIONS)), max_bytes=PARTITIONS * MANY))
    assert len(cold.asked) == MOST_LOADING
    assert fetch.errors()[loading] is StorageFailed
    assert fetch.offsets()[-1] == [0]


def test_behind_others_that_load_for_long_one_more_is_tried_each_time(cold: Cold) -> None:
    fetch = Fetch(cold.fake, query(*map(item, range(6)), max_bytes=MANY))
    for tried in range(1, 4):
        assert fetch.waits and {index for index, _ in cold.asked} == set(range(tried))
        cold.fake.scheduler.advance(LOOK_AGAIN_MS)
    cold.warm.add(3)
    cold.fake.scheduler.advance(LOOK_AGAIN_MS)
    assert fetch.offsets() == [[], [], [], [0], [], []]
