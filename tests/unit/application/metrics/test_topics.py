from __future__ import annotations

from application.metrics.families import jmx
from application.metrics.families import kafka_exporter as exporter
from application.metrics.families.family import Value
from application.metrics.topics import Rate, TopicReadings
from domain.cluster.nodes import Leader
from domain.errors import StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

MINUTE_MS = 60_000


def told(readings: TopicReadings) -> dict[tuple[str, ...], Value]:
    """By family and labels."""
    return {
        (family.name, *labels): value
        for family, samples in readings.read()
        for labels, value in samples
    }


def test_a_rate_comes_close_to_what_is_steady_whatever_the_steps() -> None:
    for step_ms in (1000, 15_000, 5 * MINUTE_MS):
        rate, count = Rate(), 0
        for _ in range(90 * MINUTE_MS // step_ms):
            count += 100 * step_ms // 1000
            rate.update(count, step_ms)
        assert 99 < rate.a_second <= 100


def test_a_rate_falls_when_nothing_more_comes_and_a_count_may_begin_anew() -> None:
    rate = Rate()
    rate.update(6000, MINUTE_MS)
    before = rate.a_second
    rate.update(6000, MINUTE_MS)
    assert 0 < rate.a_second < before
    rate.update(600, MINUTE_MS)  # less than before: its topic was made anew
    assert rate.a_second > 0


def test_what_was_there_before_the_first_look_is_no_rate() -> None:
    rate = Rate()
    rate.update(1 << 40, 0)
    rate.update(1 << 40, MINUTE_MS)
    assert rate.a_second == 0


def test_a_partition_that_another_node_leads_is_not_offline() -> None:
    fake = FakeBroker()
    topic = fake.topic("t", 2)
    fake.placement.move(topic.partition_ids[0], Leader(2, 1))
    figures = told(TopicReadings(fake.broker.catalog, fake.clock, 1))
    assert figures[jmx.OFFLINE_PARTITIONS.name,] == 0
    assert (exporter.LEADER.name, "t", "0") not in figures
    assert figures[exporter.LEADER.name, "t", "1"] == 1


def test_what_went_through_a_topic_is_that_of_its_partitions_together() -> None:
    fake = FakeBroker()
    fake.topic("t", 2)
    sizes = 0
    for index in (0, 1, 1):
        batch = record_batch(["a", "b"])
        sizes += len(batch)
        fake.appended(batch, "t", index)
    fake.append(b"x" * 100, "t", 0)  # refused
    figures = told(TopicReadings(fake.broker.catalog, fake.clock, 1))
    of_topic = "kafka_server_brokertopicmetrics"
    assert figures[f"{of_topic}_messagesin_total", "t"] == 6
    assert figures[f"{of_topic}_bytesin_total", "t"] == sizes
    assert figures[f"{of_topic}_totalproducerequests_total", "t"] == 4
    assert figures[f"{of_topic}_failedproducerequests_total", "t"] == 1
    assert figures["kafka_topic_partition_current_offset", "t", "1"] == 4
    assert figures["kminion_kafka_topic_log_dir_size_total_bytes", "t"] == sizes


BYTES_IN = "kafka_server_brokertopicmetrics_bytesin_total", "t"
MESSAGES_IN = "kafka_server_brokertopicmetrics_messagesin_total", "t"
RATE = "kafka_server_BrokerTopicMetrics_Topic_FifteenMinuteRate", "BytesInPerSec", "t"


def test_bytes_in_never_go_back_and_what_is_replayed_is_not_counted() -> None:
    fake = FakeBroker()
    fake.topic("t", 2)
    readings = TopicReadings(fake.broker.catalog, fake.clock, 1)
    batch = record_batch(["x"])
    fake.appended(batch, "t", 0)
    fake.appended(batch, "t", 1)
    assert told(readings)[BYTES_IN] == 2 * len(batch)
    fake.append(batch, "t", 0)
    fake.commit.fail_next()
    fake.run()
    fake.log.failing = StorageFailed("cannot read")
    fake.scheduler.advance(MINUTE_MS)
    figures = told(readings)
    assert figures["kafka_controller_kafkacontroller_offlinepartitionscount",] == 1
    assert (figures[BYTES_IN], figures[RATE]) == (2 * len(batch), 0)
    fake.log.failing = None
    fake.scheduler.advance(MINUTE_MS)
    figures = told(readings)
    assert figures["kafka_topic_partition_current_offset", "t", "0"] == 1
    assert (figures[BYTES_IN], figures[RATE]) == (2 * len(batch), 0)
    fake.appended(batch, "t", 0)
    assert told(readings)[BYTES_IN] == 3 * len(batch)


def test_after_a_restart_nothing_came_in_until_something_does() -> None:
    fake = FakeBroker()
    fake.topic("t")
    batch = record_batch(["x"])
    fake.appended(batch)
    again = fake.restarted()
    readings = TopicReadings(again.broker.catalog, again.clock, 1)
    again.scheduler.advance(MINUTE_MS)
    figures = told(readings)
    assert figures["kafka_topic_partition_current_offset", "t", "0"] == 1
    assert (figures[BYTES_IN], figures[RATE]) == (0, 0)
    again.appended(batch)
    assert told(readings)[BYTES_IN] == len(batch)


def test_the_first_look_is_what_rates_begin_with_however_late_it_comes() -> None:
    fake = FakeBroker()
    fake.topic("t")
    readings = TopicReadings(fake.broker.catalog, fake.clock, 1)
    fake.appended(record_batch(["x" * 1000]))
    fake.scheduler.advance(MINUTE_MS)
    assert told(readings)[RATE] == 0
    fake.appended(record_batch(["x" * 1000]))
    fake.scheduler.advance(MINUTE_MS)
    rate = told(readings)[RATE]
    assert isinstance(rate, float) and 0 < rate < 1100 / 60


def test_rates_are_told_from_the_second_look_on() -> None:
    fake = FakeBroker()
    fake.topic("t")
    readings = TopicReadings(fake.broker.catalog, fake.clock, 1)
    key = ("kafka_server_BrokerTopicMetrics_Topic_FifteenMinuteRate", "BytesInPerSec", "t")
    assert told(readings)[key] == 0
    fake.appended(record_batch(["x" * 1000]))
    fake.scheduler.advance(MINUTE_MS)
    rate = told(readings)[key]
    assert isinstance(rate, float) and 0 < rate < 1100 / 60
    of_all = "kafka_server_BrokerTopicMetrics_FifteenMinuteRate"
    assert told(readings)[of_all, "BytesInPerSec"] == rate


def test_messages_in_never_go_down_while_partitions_cannot_be_read() -> None:
    fake = FakeBroker()
    fake.topic("t", 2)
    readings = TopicReadings(fake.broker.catalog, fake.clock, 1)
    for index in (0, 1):
        fake.appended(record_batch(["a", "b"]), "t", index)
    assert told(readings)[MESSAGES_IN] == 4
    for index in (0, 1):
        fake.append(record_batch(["c"]), "t", index)
    fake.commit.fail_next()
    fake.run()
    fake.log.failing = StorageFailed("cannot read")
    for _ in range(2):
        figures = told(readings)
        assert figures["kafka_controller_kafkacontroller_offlinepartitionscount",] == 2
        assert figures[MESSAGES_IN] == 4
    fake.log.failing = None
    assert told(readings)[MESSAGES_IN] == 4
    fake.appended(record_batch(["c"]), "t", 0)
    assert told(readings)[MESSAGES_IN] == 5
