from __future__ import annotations

from typing import Any

import pytest

from application.background.runner import SLICE_NS
from application.partitions.log_dirs import LogDir
from application.ports.volume import UNKNOWN_SPACE
from application.state.catalog import Catalog
from domain.errors import StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.results import results_of

TopicPartition = tuple[str, int]


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("a", 3)
    fake.topic("b")
    return fake


def described(fake: FakeBroker, *partitions: TopicPartition) -> LogDir:
    pending = fake.broker.topics.log_dirs.describe(partitions)
    fake.run()
    [result] = results_of(pending)
    return result


def loaded(fake: FakeBroker, name: str) -> int:
    """The number of loaded partitions of a topic."""
    topic = fake.existing(name)
    return sum(fake.broker.catalog.is_loaded(topic, i) for i in range(len(topic.partition_ids)))


def test_sizes_are_those_of_committed_batches(fake: FakeBroker) -> None:
    first, second = record_batch(["x", "y"]), record_batch(["z"])
    fake.appended(first, "a", 1)
    fake.appended(second, "a", 1)
    fake.append(record_batch(["not yet"]), "a", 1)
    [log_dir] = results_of(fake.broker.topics.log_dirs.describe([("a", 1), ("a", 0)]))
    assert log_dir.sizes == [("a", 1, len(first) + len(second)), ("a", 0, 0)]


def test_a_store_in_memory_has_no_volume(fake: FakeBroker) -> None:
    log_dir = described(fake)
    assert (log_dir.path, log_dir.space) == ("memory", UNKNOWN_SPACE)


def test_unreadable_partitions_are_left_out(fake: FakeBroker) -> None:
    fake.partition("a", 2)
    fake.log.failing = StorageFailed("a bad sector")
    assert described(fake, ("a", 0), ("a", 2)).sizes == [("a", 2, 0)]


def test_many_partitions_are_loaded_in_slices(fake: FakeBroker) -> None:
    at_once = 20
    fake.clock.look_ns = SLICE_NS // at_once
    fake.topic("many", 2 * at_once + 1)
    partitions = [("many", index) for index in range(2 * at_once + 1)]
    pending = fake.broker.topics.log_dirs.describe(partitions)
    seen = [loaded(fake, "many")]
    while not pending.resolved:
        fake.scheduler.run_pass()
        seen.append(loaded(fake, "many"))
    assert seen == [at_once, 2 * at_once, 2 * at_once + 1]


def test_broken_partitions_are_loaded_in_slices_too(fake: FakeBroker) -> None:
    at_once = 20
    fake.clock.look_ns = SLICE_NS // at_once
    fake.topic("many", at_once + 1)
    for index in range(at_once + 1):
        fake.append(record_batch(["x"]), "many", index)
    fake.commit.fail_next()
    fake.run()
    partitions = [("many", index) for index in range(at_once + 1)]
    fake.broker.topics.log_dirs.describe(partitions)
    assert loaded(fake, "many") == at_once


def test_an_abandoned_request_ends(fake: FakeBroker) -> None:
    fake.topic("many", 100)
    fake.clock.look_ns = SLICE_NS
    pending = fake.broker.topics.log_dirs.describe(None)
    before = loaded(fake, "many")
    assert before < 100
    pending.abandon()
    fake.run()
    assert loaded(fake, "many") == before


def test_a_fault_fails_its_own_request(fake: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Catalog, "partition", faulty)
    assert isinstance(fake.broker.topics.log_dirs.describe(None).fault, RuntimeError)
