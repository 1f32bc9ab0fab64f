from __future__ import annotations

from application.metrics.families import jmx, own
from application.metrics.families import kafka_exporter as exporter
from application.metrics.topics import LOADED_AT_ONCE, Rate, TopicReadings
from application.state.min_insync_replicas import MinInsyncReplicas
from domain.cluster.nodes import Leader, Node
from domain.errors import StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.copies import FakeCopies
from tests.unit.application.metrics.figures import Figures, by_labels

MINUTE_MS = 60_000


def figures_of(readings: TopicReadings) -> Figures:
    return by_labels(readings.read())


def test_a_rate_approaches_a_steady_input_with_any_interval() -> None:
    for step_ms in (1000, 15_000, 5 * MINUTE_MS):
        rate, count = Rate(), 0
        for _ in range(90 * MINUTE_MS // step_ms):
            count += 100 * step_ms // 1000
            rate.update(count, step_ms)
        assert 99 < rate.a_second <= 100


def test_a_rate_falls_without_input_and_survives_a_counter_reset() -> None:
    rate = Rate()
    rate.update(6000, MINUTE_MS)
    before = rate.a_second
    rate.update(6000, MINUTE_MS)
    assert 0 < rate.a_second < before
    rate.update(600, MINUTE_MS)  # less than before: the topic was created again
    assert rate.a_second > 0


def test_counts_before_the_first_reading_are_no_rate() -> None:
    rate = Rate()
    rate.update(1 << 40, 0)
    rate.update(1 << 40, MINUTE_MS)
    assert rate.a_second == 0


def test_a_partition_that_another_node_leads_is_not_offline() -> None:
    fake = FakeBroker()
    topic = fake.topic("t", 2)
    fake.placement.add(Node(2))
    fake.placement.move(topic.partition_ids[0], Leader(2, 1))
    figures = figures_of(TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement))
    assert figures[jmx.OFFLINE_PARTITIONS.name,] == 0
    assert (exporter.LEADER.name, "t", "0") not in figures
    assert figures[exporter.LEADER.name, "t", "1"] == 1


def test_a_broker_that_is_alone_has_no_line_for_each_leader_epoch() -> None:
    fake = with_topic(2)
    readings = TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement)
    assert not [key for key in figures_of(readings) if key[0] == own.LEADER_EPOCH.name]


def test_partitions_under_min_insync_replicas_are_counted() -> None:
    fake = with_topic(2, min_insync_replicas="2")
    fake.topic("u")
    fake.placement.add(Node(2))
    fake.placement.move(fake.existing().partition_ids[0], Leader(2, 1))
    is_under = MinInsyncReplicas(FakeCopies(1)).is_under
    readings = TopicReadings(
        fake.broker.catalog, fake.clock, fake.broker.placement, is_under_min_isr=is_under
    )
    assert figures_of(readings)[jmx.UNDER_MIN_ISR.name,] == 1


def test_topic_counters_are_the_sum_of_the_partitions() -> None:
    fake = with_topic(2)
    sizes = 0
    for index in (0, 1, 1):
        batch = record_batch(["a", "b"])
        sizes += len(batch)
        fake.appended(batch, "t", index)
    fake.append(b"x" * 100, "t", 0)  # refused
    figures = figures_of(TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement))
    of_topic = "kafka_server_brokertopicmetrics"
    assert figures[f"{of_topic}_messagesin_total", "t"] == 6
    assert figures[f"{of_topic}_bytesin_total", "t"] == sizes
    assert figures[f"{of_topic}_totalproducerequests_total", "t"] == 4
    assert figures[f"{of_topic}_failedproducerequests_total", "t"] == 1
    assert figures["kafka_topic_partition_current_offset", "t", "1"] == 4
    assert figures["kminion_kafka_topic_log_dir_size_total_bytes", "t"] == sizes


OFFLINE = "kafka_controller_kafkacontroller_offlinepartitionscount"
BYTES_IN = "kafka_server_brokertopicmetrics_bytesin_total", "t"
MESSAGES_IN = "kafka_server_brokertopicmetrics_messagesin_total", "t"
ALL_TOPICS_RATE = "kafka_server_BrokerTopicMetrics_FifteenMinuteRate", "BytesInPerSec"
RATE = "kafka_server_BrokerTopicMetrics_Topic_FifteenMinuteRate", "BytesInPerSec", "t"


def test_counters_never_fall_and_do_not_count_replayed_batches() -> None:
    fake = with_topic(2)
    readings = TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement)
    batch = record_batch(["a", "b"])
    for index in (0, 1):
        fake.appended(batch, "t", index)

    def check(offline: int) -> None:
        figures = figures_of(readings)
        assert (figures[OFFLINE,], figures[RATE]) == (offline, 0)
        assert (figures[BYTES_IN], figures[MESSAGES_IN]) == (2 * len(batch), 4)

    check(offline=0)
    for index in (0, 1):
        fake.append(batch, "t", index)
    fake.commit.fail_next()
    fake.run()
    fake.log.failing = StorageFailed("cannot read")
    for _ in range(2):
        fake.scheduler.advance(MINUTE_MS)
        check(offline=2)
    fake.log.failing = None
    fake.scheduler.advance(MINUTE_MS)
    check(offline=0)
    fake.appended(batch, "t", 0)
    figures = figures_of(readings)
    assert figures["kafka_topic_partition_current_offset", "t", "0"] == 4
    assert (figures[BYTES_IN], figures[MESSAGES_IN]) == (3 * len(batch), 6)


def test_after_a_restart_counters_start_at_zero() -> None:
    fake = with_topic()
    batch = record_batch(["x"])
    fake.appended(batch)
    again = fake.restarted()
    readings = TopicReadings(again.broker.catalog, again.clock, again.broker.placement)
    again.scheduler.advance(MINUTE_MS)
    figures = figures_of(readings)
    assert figures["kafka_topic_partition_current_offset", "t", "0"] == 1
    assert (figures[BYTES_IN], figures[RATE]) == (0, 0)
    again.appended(batch)
    assert figures_of(readings)[BYTES_IN] == len(batch)


def test_rates_start_with_the_first_reading() -> None:
    fake = with_topic()
    readings = TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement)
    fake.appended(record_batch(["x" * 1000]))
    fake.scheduler.advance(MINUTE_MS)
    assert figures_of(readings)[RATE] == 0
    fake.appended(record_batch(["x" * 1000]))
    fake.scheduler.advance(MINUTE_MS)
    rate = figures_of(readings)[RATE]
    assert isinstance(rate, float) and 0 < rate < 1100 / 60
    assert figures_of(readings)[ALL_TOPICS_RATE] == rate


def test_every_hundred_loaded_partitions_are_reported_once() -> None:
    fake = FakeBroker()
    fake.topic("t", 2 * LOADED_AT_ONCE + 1)
    again = fake.restarted()
    reports: list[int] = []
    step = 0
    readings = TopicReadings(
        again.broker.catalog, again.clock, again.broker.placement, lambda: reports.append(step)
    )
    for _ in range(2):
        for step, _ in enumerate(readings.load()):  # noqa: B007 - for the reports
            pass
    assert len(reports) == 2
    assert reports[1] - reports[0] == LOADED_AT_ONCE
