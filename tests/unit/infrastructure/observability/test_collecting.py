from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from application.background.runner import SLICE_NS
from application.metrics.families.family import SAMPLES_AT_ONCE, Family, Kind, Reading, Sample
from application.metrics.topics import TopicReadings
from domain.errors import StorageFailed
from infrastructure.observability.collecting import Collector, Result, Scrapes
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic

GAUGE = Family("a_gauge", Kind.GAUGE, "A gauge.", ("n",))
OFFLINE = "kafka_controller_kafkacontroller_offlinepartitionscount"
OFFSET = "kafka_topic_partition_current_offset"


def test_metrics_are_collected_in_slices() -> None:
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


def test_concurrent_scrapes_share_one_collection() -> None:
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


def test_a_fault_fails_its_scrape_only() -> None:
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


def test_a_fault_in_a_callback_does_not_affect_other_scrapes() -> None:
    fake = FakeBroker()
    fake.clock.look_ns = SLICE_NS
    scheduler = fake.scheduler
    scrapes = Scrapes(Collector([lambda: iter([(GAUGE, [])])], fake.broker.background))
    results: list[Result] = []

    def broken(result: Result) -> None:
        raise RuntimeError("the connection is closed")

    scrapes.scrape().then(broken)
    scrapes.scrape().then(results.append)
    with pytest.raises(RuntimeError, match="is closed"):
        scheduler.run()
    assert len(results) == 1


def test_readings_are_limited_in_size() -> None:
    fake = FakeBroker()
    fake.topic("wide", 1500)
    readings = list(TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement).read())
    assert max(len(samples) for _, samples in readings) == SAMPLES_AT_ONCE
    offsets = [
        sample for family, samples in readings if family.name == OFFSET for sample in samples
    ]
    assert offsets == [(("wide", str(n)), 0) for n in range(1500)]


def test_each_partition_that_is_loaded_is_followed_by_a_pause() -> None:
    fake = with_topic(60)
    catalog = fake.broker.catalog
    for index in (7, 8):
        fake.partition("t", index)

    def usable_at_pauses() -> list[int]:
        """The number of readable partitions at each pause."""
        return [
            sum(partition.broken is None for partition in catalog.loaded())
            for _ in TopicReadings(catalog, fake.clock, fake.broker.placement).load()
        ]

    assert set(usable_at_pauses()) == set(range(3, 61))
    for partition in catalog.loaded()[:10]:
        partition.broken = StorageFailed("not committed")
    assert set(usable_at_pauses()) == set(range(51, 61))


def families_of(fake: FakeBroker, change: Callable[[], object]) -> dict[str, list[Sample]]:
    """The families if `change` happens after some partitions have been read."""
    families: dict[str, list[Sample]] = {}
    pauses = 0
    for family, samples in TopicReadings(
        fake.broker.catalog, fake.clock, fake.broker.placement
    ).read():
        families.setdefault(family.name, []).extend(samples)
        pauses += not samples
        if pauses == 1 and not samples:
            change()
    return families


def test_a_topic_that_is_deleted_meanwhile_is_left_out() -> None:
    fake = FakeBroker()
    gone = fake.topic("gone", 30)
    fake.topic("stays", 2)
    families = families_of(fake, lambda: fake.broker.catalog.remove(gone))
    assert families[OFFSET] == [(("stays", "0"), 0), (("stays", "1"), 0)]
    assert families[OFFLINE] == [((), 0)]


@pytest.mark.parametrize("name", ["read", "later"])
def test_a_topic_that_changes_meanwhile_is_complete(name: str) -> None:
    fake = FakeBroker()
    fake.topic("read", 30)
    fake.topic("later", 30)
    topic = fake.existing(name)

    def change() -> None:
        fake.broker.catalog.put(topic.configured({"max.message.bytes": "1000"}))
        fake.broker.catalog.put(fake.existing(name).grown((1000,)))

    families = families_of(fake, change)
    assert [labels for labels, _ in families[OFFSET]] == [
        (topic, str(index)) for topic in ("read", "later") for index in range(30)
    ]
    assert families[OFFLINE] == [((), 0)]


def test_an_unreadable_partition_is_offline_and_others_are_not() -> None:
    fake = with_topic(2)
    fake.appended(record_batch(["x"]), "t", 0)
    fake.append(record_batch(["lost"]), "t", 1)
    fake.commit.fail_next()
    fake.run()
    fake.log.failing = StorageFailed("cannot read")
    families = {
        family.name: samples
        for family, samples in TopicReadings(
            fake.broker.catalog, fake.clock, fake.broker.placement
        ).read()
        if samples
    }
    assert families[OFFLINE] == [((), 1)]
    assert families[OFFSET] == [(("t", "0"), 1)]
