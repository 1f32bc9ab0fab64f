from __future__ import annotations

import json

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.records.filter import RecordFilter
from application.records.plan import MAX_PARTITIONS
from application.records.tail import Tail, Tailed
from application.topics.partitions import MorePartitions
from domain.cluster.nodes import Leader
from domain.errors import InvalidRequest, StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.results import results_of


@pytest.fixture
def fake() -> FakeBroker:
    fake = with_topic(2)
    for value in "abc":
        fake.appended(record_batch([value]))
    return fake


def values(tailed: Tailed) -> list[str]:
    assert isinstance(tailed, bytes), tailed
    return [json.loads(line)["value"] for line in tailed.splitlines()]


def next_values(fake: FakeBroker, tail: Tail) -> list[str]:
    pending = tail.next()
    fake.run()
    [tailed] = results_of(pending)
    return values(tailed)


def test_a_tail_waits_for_the_next_record(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    pending = tail.next()
    fake.run()
    assert not pending.resolved
    fake.appended(record_batch(["d"]), index=1)
    fake.run()
    assert results_of(pending) and values(results_of(pending)[0]) == ["d"]
    assert tail.positions() == {0: 3, 1: 1}


def test_a_tail_can_start_before_the_end(fake: FakeBroker) -> None:
    assert next_values(fake, fake.broker.messages.tail.open("t", offset=1)) == ["b", "c"]
    assert next_values(fake, fake.broker.messages.tail.open("t", last=2)) == ["b", "c"]
    assert next_values(fake, fake.broker.messages.tail.open("t", last=99)) == ["a", "b", "c"]


def test_a_resumed_tail_continues_at_its_positions(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    tail.resume_from({0: 1, 1: 0, 7: 3})
    assert next_values(fake, tail) == ["b", "c"]
    grow(fake, 3)
    fake.appended(record_batch(["new"]), index=2)
    tail = fake.broker.messages.tail.open("t")
    tail.resume_from({0: 3, 1: 0})
    assert next_values(fake, tail) == ["new"]


def test_a_tail_resumed_beyond_the_end_continues_at_the_end(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    tail.resume_from({0: 1000, 1: 2**80})
    fake.appended(record_batch(["d"]))
    assert next_values(fake, tail) == ["d"]
    assert tail.positions() == {0: 4, 1: 0}


def grow(fake: FakeBroker, total: int) -> None:
    fake.broker.topics.create_partitions.grow([MorePartitions("t", total, None)], False)
    fake.run()


def test_added_partitions_are_followed(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    waiting = tail.next()
    fake.run()
    grow(fake, 3)
    assert not waiting.resolved
    fake.appended(record_batch(["new"]), index=2)
    fake.run()
    assert values(results_of(waiting)[0]) == ["new"]
    assert tail.positions() == {0: 3, 1: 0, 2: 1}
    grow(fake, 4)
    fake.appended(record_batch(["newer"]), index=3)
    assert next_values(fake, tail) == ["newer"]
    tail.close()
    assert len(fake.broker.messages.tail.purgatory) == 0


def test_a_tail_of_some_partitions_follows_no_others(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t", [0, 1])
    waiting = tail.next()
    fake.run()
    grow(fake, 3)
    fake.appended(record_batch(["new"]), index=2)
    fake.appended(record_batch(["followed"]), index=1)
    fake.run()
    assert values(results_of(waiting)[0]) == ["followed"]


def test_an_added_partition_that_is_not_in_memory_is_loaded(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    pending = tail.next()
    fake.log.loading = Pending()
    grow(fake, 3)
    fake.log.loading_of = fake.existing().partition_ids[2]
    fake.run()
    assert not pending.resolved
    fake.log.load()
    fake.appended(record_batch(["d"]), index=2)
    fake.run()
    assert values(results_of(pending)[0]) == ["d"]


def test_opening_waits_for_logs_that_are_not_in_memory(fake: FakeBroker) -> None:
    fake.log.loading, fake.log.loading_of = Pending(), fake.existing().partition_ids[1]
    with pytest.raises(NotInMemory):
        fake.broker.messages.tail.open("t")
    fake.log.load()
    assert fake.broker.messages.tail.open("t").positions() == {0: 3, 1: 0}


def test_a_tail_ends_with_an_error_when_its_topic_has_too_many_partitions(fake: FakeBroker) -> None:
    waiting = fake.broker.messages.tail.open("t").next()
    fake.run()
    grow(fake, MAX_PARTITIONS + 1)
    [tailed] = results_of(waiting)
    assert isinstance(tailed, InvalidRequest) and str(MAX_PARTITIONS) in tailed.message


def test_a_tail_reads_only_on_demand(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    for number in range(1000):
        fake.append(record_batch([str(number)]))
    fake.run()
    assert len(fake.broker.messages.tail.purgatory) == 0
    first = next_values(fake, tail)
    assert 0 < len(first) <= 500
    seen = list(first)
    while len(seen) < 1000:
        seen += next_values(fake, tail)
    assert seen == [str(number) for number in range(1000)]


def test_records_that_do_not_match_are_skipped(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t", conditions=RecordFilter(in_value=b"x"))
    pending = tail.next()
    fake.appended(record_batch(["y"]))
    fake.run()
    assert not pending.resolved
    assert tail.positions()[0] == 4
    fake.appended(record_batch(["xy"]))
    fake.run()
    assert values(results_of(pending)[0]) == ["xy"]


@pytest.mark.parametrize("end", ["stopped", "deleted", "moved"])
def test_a_tail_ends_with_the_broker_or_the_topic(fake: FakeBroker, end: str) -> None:
    pending = fake.broker.messages.tail.open("t").next()
    fake.run()
    if end == "stopped":
        fake.broker.messages.fetch.release()
    elif end == "deleted":
        fake.broker.topics.delete_topics.delete([fake.existing()])
    else:
        fake.placement.move(fake.existing().partition_ids[1], Leader(2, 1))
    fake.run()
    assert results_of(pending) == [None]


def test_a_closed_tail_reads_nothing(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    pending = tail.next()
    fake.run()
    tail.close()
    fake.appended(record_batch(["d"]))
    fake.run()
    assert not pending.resolved
    assert len(fake.broker.messages.tail.purgatory) == 0


def test_an_unreadable_log_ends_a_tail(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t", offset=0)
    fake.log.failing = StorageFailed("the disk is ill")
    pending = tail.next()
    fake.run()
    [tailed] = results_of(pending)
    assert isinstance(tailed, StorageFailed)
