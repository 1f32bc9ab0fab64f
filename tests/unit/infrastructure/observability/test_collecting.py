from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from application.background.runner import SLICE_NS
from application.metrics.families.family import SAMPLES_AT_ONCE, Family, Kind, Reading, Sample
from application.metrics.topics import TopicReadings
from domain.errors import StorageFailed
from infrastructure.observability.collecting import Collector, Result, Scrapes
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

GAUGE = Family("a_gauge", Kind.GAUGE, "A gauge.", ("n",))
OFFLINE = "kafka_controller_kafkacontroller_offlinepartitionscount"
OFFSET = "kafka_topic_partition_current_offset"


def test_it_reads_in_slices_and_others_run_between_them() -> None:
    fake = FakeBroker()
    fake.clock.look_ns = SLICE_NS
    scheduler = fake.scheduler
    heard: list[object] = []

    def source() -> Iterator[Reading]:
        for number in range(3):
            yield GAUGE, [((str(number),), number)]

    readings = Collector([source], fake.broker.background).collect(
        lambda reading: heard.append(reading[1][0][1])
    )
    readings.then(lambda _: heard.append("done"))
    assert heard == [0]
    scheduler.soon(lambda: heard.append("another"))
    scheduler.run()
    assert heard == [0, 1, "another", 2, "done"]


def test_who_asks_while_one_is_made_gets_the_same() -> None:
    fake = FakeBroker()
    fake.clock.look_ns = SLICE_NS
    scheduler = fake.scheduler
    reads = 0

    def source() -> Iterator[Reading]:
        nonlocal reads
        reads += 1
        yield GAUGE, [(("a",), 1)]
        yield GAUGE, [(("b",), 2)]

    scrapes = Scrapes(Collector([source], fake.broker.background))
    results: list[Result] = []
    for _ in range(3):
        scrapes.scrape().then(results.append)
    gone = scrapes.scrape()
    gone.abandon()
    assert results == []
    scheduler.run()
    assert len(results) == 3 and reads == 1
    assert results[0] is results[1] is results[2]
    scrapes.scrape().then(results.append)
    scheduler.run()
    assert reads == 2 and results[3] is not results[0] and results[3] == results[0]


def test_a_fault_is_told_to_all_and_the_next_one_is_made_anew() -> None:
    fake = FakeBroker()
    scheduler = fake.scheduler
    faults = [ZeroDivisionError("once")]

    def source() -> Iterator[Reading]:
        yield GAUGE, []
        if faults:
            raise faults.pop()

    scrapes = Scrapes(Collector([source], fake.broker.background))
    results: list[Result | Exception] = []
    scrapes.scrape().then(results.append, results.append)
    scrapes.scrape().then(results.append, results.append)
    scheduler.run()
    first, second = results
    assert isinstance(first, ZeroDivisionError) and isinstance(second, list)


def test_one_who_cannot_take_the_text_keeps_it_from_nobody() -> None:
    fake = FakeBroker()
    fake.clock.look_ns = SLICE_NS
    scheduler = fake.scheduler
    scrapes = Scrapes(Collector([lambda: iter([(GAUGE, [])])], fake.broker.background))
    results: list[Result] = []

    def broken(result: Result) -> None:
        raise RuntimeError("its connection is in no state for it")

    scrapes.scrape().then(broken)
    scrapes.scrape().then(results.append)
    with pytest.raises(RuntimeError, match="in no state"):
        scheduler.run()
    assert len(results) == 1


def test_no_reading_of_many_partitions_is_large() -> None:
    fake = FakeBroker()
    fake.topic("wide", 1500)
    readings = list(TopicReadings(fake.broker.catalog, fake.clock, 1).read())
    assert max(len(samples) for _, samples in readings) == SAMPLES_AT_ONCE
    offsets = [
        sample for family, samples in readings if family.name == OFFSET for sample in samples
    ]
    assert offsets == [(("wide", str(n)), 0) for n in range(1500)]


def test_others_run_after_each_partition_that_had_to_be_loaded() -> None:
    fake = FakeBroker()
    fake.topic("t", 60)
    catalog = fake.broker.catalog
    for index in (7, 8):
        fake.partition("t", index)

    def usable_at_pauses() -> list[int]:
        """How many partitions needed nothing more, each time others could run."""
        return [
            sum(partition.broken is None for partition in catalog.loaded())
            for _, samples in TopicReadings(catalog, fake.clock, 1).read()
            if not samples
        ]

    assert set(usable_at_pauses()) == set(range(3, 61))
    for partition in catalog.loaded()[:10]:
        partition.broken = StorageFailed("not committed")
    assert set(usable_at_pauses()) == set(range(51, 61))


def changed_while_read(fake: FakeBroker, change: Callable[[], object]) -> dict[str, list[Sample]]:
    """What is told where `change` comes when some partitions have been looked at."""
    told: dict[str, list[Sample]] = {}
    pauses = 0
    for family, samples in TopicReadings(fake.broker.catalog, fake.clock, 1).read():
        told.setdefault(family.name, []).extend(samples)
        pauses += not samples
        if pauses == 1 and not samples:
            change()
    return told


def test_a_topic_that_goes_while_it_is_read_is_left_out() -> None:
    fake = FakeBroker()
    gone = fake.topic("gone", 30)
    fake.topic("stays", 2)
    told = changed_while_read(fake, lambda: fake.broker.catalog.remove(gone))
    assert told[OFFSET] == [(("stays", "0"), 0), (("stays", "1"), 0)]
    assert told[OFFLINE] == [((), 0)]


@pytest.mark.parametrize("name", ["read", "later"])
def test_a_topic_that_is_changed_while_it_is_read_is_told_whole(name: str) -> None:
    fake = FakeBroker()
    fake.topic("read", 30)
    fake.topic("later", 30)
    topic = fake.existing(name)

    def change() -> None:
        fake.broker.catalog.put(topic.configured({"max.message.bytes": "1000"}))
        fake.broker.catalog.put(fake.existing(name).grown((1000,)))

    told = changed_while_read(fake, change)
    assert [labels for labels, _ in told[OFFSET]] == [
        (topic, str(index)) for topic in ("read", "later") for index in range(30)
    ]
    assert told[OFFLINE] == [((), 0)]


def test_a_partition_that_cannot_be_read_is_offline_and_the_others_are_told() -> None:
    fake = FakeBroker()
    fake.topic("t", 2)
    fake.appended(record_batch(["x"]), "t", 0)
    fake.append(record_batch(["lost"]), "t", 1)
    fake.commit.fail_next()
    fake.run()
    fake.log.failing = StorageFailed("cannot read")
    told = {
        family.name: samples
        for family, samples in TopicReadings(fake.broker.catalog, fake.clock, 1).read()
        if samples
    }
    assert told[OFFLINE] == [((), 1)]
    assert told[OFFSET] == [(("t", "0"), 1)]
