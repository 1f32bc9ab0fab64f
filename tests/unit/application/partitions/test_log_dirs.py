from __future__ import annotations

from typing import Any

import pytest

from application.background.runner import SLICE_NS
from application.partitions.log_dirs import LogDir
from application.ports.volume import UNKNOWN_SPACE
from application.state.catalog import Catalog
from domain.errors import StorageFailed
from tests.fakes.answers import answers_of
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

TopicPartition = tuple[str, int]


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("a", 3)
    fake.topic("b")
    return fake


def described(fake: FakeBroker, *wanted: TopicPartition, everything: bool = False) -> LogDir:
    describing = fake.broker.topics.log_dirs.describe(None if everything else wanted)
    fake.run()
    [answer] = answers_of(describing)
    return answer


def loaded(fake: FakeBroker, name: str) -> int:
    """How many of a topic's partitions need nothing more."""
    topic = fake.existing(name)
    return sum(fake.broker.catalog.is_loaded(topic, i) for i in range(len(topic.partition_ids)))


def test_sizes_are_those_of_the_batches_that_are_committed(fake: FakeBroker) -> None:
    first, second = record_batch(["x", "y"]), record_batch(["z"])
    fake.appended(first, "a", 1)
    fake.appended(second, "a", 1)
    fake.append(record_batch(["not yet"]), "a", 1)
    [log_dir] = answers_of(fake.broker.topics.log_dirs.describe([("a", 1), ("a", 0)]))
    assert log_dir.sizes == [("a", 1, len(first) + len(second)), ("a", 0, 0)]


def test_all_of_them_or_those_that_are_there(fake: FakeBroker) -> None:
    every = described(fake, everything=True).sizes
    assert [(one.topic, one.partition_index) for one in every] == [
        ("a", 0), ("a", 1), ("a", 2), ("b", 0)
    ]  # fmt: skip
    asked = described(fake, ("b", 0), ("b", 1), ("nope", 0), ("a", -1), ("b", 0)).sizes
    assert asked == [("b", 0, 0)]
    assert described(fake).sizes == []


def test_a_store_in_memory_has_no_volume(fake: FakeBroker) -> None:
    log_dir = described(fake)
    assert (log_dir.path, log_dir.space) == ("memory", UNKNOWN_SPACE)


def test_what_cannot_be_read_is_left_out(fake: FakeBroker) -> None:
    fake.partition("a", 2)
    fake.log.failing = StorageFailed("a bad sector")
    assert described(fake, ("a", 0), ("a", 2)).sizes == [("a", 2, 0)]


def test_many_that_have_to_be_loaded_are_gone_through_in_slices(fake: FakeBroker) -> None:
    at_once = 20
    fake.clock.look_ns = SLICE_NS // at_once
    fake.topic("many", 2 * at_once + 1)
    wanted = [("many", index) for index in range(2 * at_once + 1)]
    describing = fake.broker.topics.log_dirs.describe(wanted)
    looked_at = [loaded(fake, "many")]
    while not describing.resolved:
        fake.scheduler.run_pass()
        looked_at.append(loaded(fake, "many"))
    assert looked_at == [at_once, 2 * at_once, 2 * at_once + 1]


def test_those_that_are_to_be_rebuilt_are_loaded_as_well(fake: FakeBroker) -> None:
    at_once = 20
    fake.clock.look_ns = SLICE_NS // at_once
    fake.topic("many", at_once + 1)
    for index in range(at_once + 1):
        fake.append(record_batch(["x"]), "many", index)
    fake.commit.fail_next()
    fake.run()
    wanted = [("many", index) for index in range(at_once + 1)]
    fake.broker.topics.log_dirs.describe(wanted)
    assert loaded(fake, "many") == at_once


def test_who_has_gone_costs_nothing_more(fake: FakeBroker) -> None:
    fake.topic("many", 100)
    fake.clock.look_ns = SLICE_NS
    describing = fake.broker.topics.log_dirs.describe(None)
    before = loaded(fake, "many")
    assert before < 100
    describing.abandon()
    fake.run()
    assert loaded(fake, "many") == before


def test_a_fault_is_the_requests_own(fake: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: Any) -> None:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(Catalog, "partition", faulty)
    assert isinstance(fake.broker.topics.log_dirs.describe(None).fault, RuntimeError)
