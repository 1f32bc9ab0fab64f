from __future__ import annotations

import json

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.records.filter import RecordFilter
from application.records.plan import MAX_PARTITIONS
from application.records.tail import Tail, Tailed
from application.topics.partitions import MorePartitions
from domain.errors import InvalidRequest, StorageFailed
from domain.topics.topic import Topic
from tests.fakes.answers import answers_of
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t", 2)
    for value in "abc":
        fake.appended(record_batch([value]))
    return fake


def values(tailed: Tailed) -> list[str]:
    assert isinstance(tailed, bytes), tailed
    return [json.loads(line)["value"] for line in tailed.splitlines()]


def come(fake: FakeBroker, tail: Tail) -> list[str]:
    pending = tail.next()
    fake.run()
    [tailed] = answers_of(pending)
    return values(tailed)


def test_from_now_it_waits_for_the_next_record(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    pending = tail.next()
    fake.run()
    assert not pending.resolved
    fake.appended(record_batch(["d"]), index=1)
    fake.run()
    assert answers_of(pending) and values(answers_of(pending)[0]) == ["d"]
    assert tail.positions() == {0: 3, 1: 1}


def test_from_an_offset_and_from_some_before_now(fake: FakeBroker) -> None:
    assert come(fake, fake.broker.messages.tail.open("t", offset=1)) == ["b", "c"]
    assert come(fake, fake.broker.messages.tail.open("t", last=2)) == ["b", "c"]
    assert come(fake, fake.broker.messages.tail.open("t", last=99)) == ["a", "b", "c"]


def test_who_comes_again_misses_nothing(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    tail.resume_from({0: 1, 1: 0, 7: 3})
    assert come(fake, tail) == ["b", "c"]


def test_who_comes_again_from_beyond_the_end_hears_what_comes(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    tail.resume_from({0: 1000, 1: 2**80})
    fake.appended(record_batch(["d"]))
    assert come(fake, tail) == ["d"]
    assert tail.positions() == {0: 4, 1: 0}


def grow(fake: FakeBroker, total: int) -> None:
    fake.broker.topics.create_partitions.grow([MorePartitions("t", total, None)], False)
    fake.run()


def test_partitions_that_are_added_are_followed_too(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    waiting = tail.next()
    fake.run()
    grow(fake, 3)
    assert not waiting.resolved
    fake.appended(record_batch(["new"]), index=2)
    fake.run()
    assert values(answers_of(waiting)[0]) == ["new"]
    assert tail.positions() == {0: 3, 1: 0, 2: 1}
    grow(fake, 4)
    fake.appended(record_batch(["newer"]), index=3)
    assert come(fake, tail) == ["newer"]
    tail.close()
    assert len(fake.broker.messages.tail.purgatory) == 0


def test_who_comes_again_misses_nothing_of_those_that_were_added(fake: FakeBroker) -> None:
    grow(fake, 3)
    fake.appended(record_batch(["new"]), index=2)
    tail = fake.broker.messages.tail.open("t")
    tail.resume_from({0: 3, 1: 0})
    assert come(fake, tail) == ["new"]


def test_who_named_partitions_gets_no_others(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t", [0, 1])
    waiting = tail.next()
    fake.run()
    grow(fake, 3)
    fake.appended(record_batch(["new"]), index=2)
    fake.appended(record_batch(["wanted"]), index=1)
    fake.run()
    assert values(answers_of(waiting)[0]) == ["wanted"]


def test_a_new_partition_may_have_to_be_loaded(fake: FakeBroker) -> None:
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
    assert values(answers_of(pending)[0]) == ["d"]


def test_the_first_use_of_a_partition_waits_for_its_log(fake: FakeBroker) -> None:
    fake.log.loading, fake.log.loading_of = Pending(), fake.existing().partition_ids[1]
    with pytest.raises(NotInMemory):
        fake.broker.messages.tail.open("t")
    fake.log.load()
    assert fake.broker.messages.tail.open("t").positions() == {0: 3, 1: 0}


def test_a_topic_that_grows_too_wide_for_a_tail_ends_it_with_a_reason(fake: FakeBroker) -> None:
    waiting = fake.broker.messages.tail.open("t").next()
    fake.run()
    grow(fake, MAX_PARTITIONS + 1)
    [tailed] = answers_of(waiting)
    assert isinstance(tailed, InvalidRequest) and "name some" in tailed.message


def test_nothing_of_it_is_done_while_nobody_asks(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    for number in range(1000):
        fake.append(record_batch([str(number)]))
    fake.run()
    assert len(fake.broker.messages.tail.purgatory) == 0
    first = come(fake, tail)
    assert 0 < len(first) <= 500
    seen = list(first)
    while len(seen) < 1000:
        seen += come(fake, tail)
    assert seen == [str(number) for number in range(1000)]


def test_what_does_not_fit_is_passed_over_without_an_answer(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t", wanted=RecordFilter(in_value=b"x"))
    pending = tail.next()
    fake.appended(record_batch(["y"]))
    fake.run()
    assert not pending.resolved
    assert tail.positions()[0] == 4
    fake.appended(record_batch(["xy"]))
    fake.run()
    assert values(answers_of(pending)[0]) == ["xy"]


def test_it_ends_when_the_broker_stops_and_when_its_topic_goes(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    pending = tail.next()
    fake.run()
    fake.broker.messages.fetch.release()
    assert answers_of(pending) == [None]

    tail = fake.broker.messages.tail.open("t")
    pending = tail.next()
    fake.run()
    found = fake.broker.topics.delete_topics.find("t", b"")
    assert isinstance(found, Topic)
    fake.broker.topics.delete_topics.delete([found])
    fake.run()
    assert answers_of(pending) == [None]


def test_who_leaves_is_not_told_any_more(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t")
    pending = tail.next()
    fake.run()
    tail.close()
    fake.appended(record_batch(["d"]))
    fake.run()
    assert not pending.resolved
    assert len(fake.broker.messages.tail.purgatory) == 0


def test_a_log_that_cannot_be_read(fake: FakeBroker) -> None:
    tail = fake.broker.messages.tail.open("t", offset=0)
    fake.log.failing = StorageFailed("the disk is ill")
    pending = tail.next()
    fake.run()
    [tailed] = answers_of(pending)
    assert isinstance(tailed, StorageFailed)
