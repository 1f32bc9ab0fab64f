"""Batches of topics read without a JVM: their rows, and the failures of topics and brokers."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interfaces.spark.kafka import reading
from interfaces.spark.query.failures import JobFailed, WrongOption
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import Broker, new_topic, unused_topic_name
from tests.e2e.spark.kafka import topics
from tests.e2e.spark.kafka.topics import create, fill, options_of, read, trim

pytest.importorskip("pyspark", reason="needs Spark")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LOOK_AGAIN_S", 0.1)
    monkeypatch.setattr(reading, "_WAIT_S", 0.1)


def batch_reader(servers: str, **options: str) -> Any:
    from interfaces.spark.kafka.batch import BatchReader

    return BatchReader(options_of(servers, **options))


def values(rows: list[dict[str, object]]) -> list[object]:
    return [row["value"] for row in rows]


def numbers(first: int, end: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, end)]


def test_every_codec_is_read_from_the_middle_of_a_batch_to_the_middle_of_another(
    servers: str, topic: str
) -> None:
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        fill(servers, topic, numbers(0, 200), compression_type=codec, batch_num_messages=40)
    start, end = json.dumps({topic: {"0": 130, "1": 0}}), json.dumps({topic: {"0": 870, "1": 0}})
    rows = read(servers, subscribe=topic, startingOffsets=start, endingOffsets=end)
    assert [row["offset"] for row in rows] == list(range(130, 870))
    assert values(rows) == (5 * numbers(0, 200))[130:870]


def test_nulls_and_empty_bytes_differ(servers: str, topic: str) -> None:
    headers = [("a", b"1"), ("a", None), ("b", b"")]
    fill(
        servers,
        topic,
        [
            {"key": b"k", "value": None, "headers": headers, "timestamp": 1_700_000_000_123},
            {"key": None, "value": b"", "timestamp": 1_700_000_000_124},
            {"key": b"", "value": b"v", "partition": 1},
        ],
    )
    first, second, third = read(servers, subscribe=topic, includeHeaders="true")
    assert first == {
        "key": b"k",
        "value": None,
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "timestamp": datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC),
        "timestampType": 0,
        "headers": [{"key": key, "value": value} for key, value in headers],
    }
    assert (second["key"], second["value"], second["headers"]) == (None, b"", None)
    assert (third["key"], third["value"], third["partition"]) == (b"", b"v", 1)
    assert "headers" not in read(servers, subscribe=topic)[0]


def test_log_append_times_have_another_type(spark_broker: Broker) -> None:
    topic = new_topic(spark_broker, 1, message__timestamp__type="LogAppendTime")
    fill(spark_broker.bootstrap, topic, [{"value": b"v", "timestamp": 5}])
    [row] = read(spark_broker.bootstrap, subscribe=topic)
    assert row["timestampType"] == 1
    assert datetime.now(UTC) - row["timestamp"] < timedelta(minutes=5)


def test_deleted_records_fail_a_query_or_are_skipped(servers: str, topic: str) -> None:
    fill(servers, topic, numbers(0, 100))
    trim(servers, topic, 60)
    assert values(read(servers, subscribe=topic)) == numbers(60, 100)

    from_start = {"subscribe": topic, "startingOffsets": json.dumps({topic: {"0": 5, "1": 0}})}
    with pytest.raises(JobFailed, match=rf"^{topic}-0: offset 5 .* 60 to 100 "):
        read(servers, **from_start)
    assert values(read(servers, **from_start, failOnDataLoss="false")) == numbers(60, 100)


def test_an_end_beyond_the_log_fails_a_query_or_is_the_end_of_the_log(
    servers: str, topic: str
) -> None:
    fill(servers, topic, numbers(0, 10))
    too_far = {"subscribe": topic, "endingOffsets": json.dumps({topic: {"0": 50, "1": 0}})}
    with pytest.raises(JobFailed, match=rf"^{topic}-0 ends at offset 10"):
        read(servers, **too_far)
    assert values(read(servers, **too_far, failOnDataLoss="false")) == numbers(0, 10)


def test_timestamps_select_the_start_and_the_end(servers: str, topic: str) -> None:
    fill(
        servers, topic, [{"value": b"%d" % ms, "timestamp": ms} for ms in (1000, 3000, 2000, 4000)]
    )
    fill(servers, topic, [{"value": b"other", "timestamp": 9000, "partition": 1}])
    times = {"startingTimestamp": "2500", "endingTimestamp": "4000"}
    assert values(read(servers, subscribe=topic, **times)) == [b"3000", b"2000"]

    late = json.dumps({topic: {"0": 5000, "1": 5000}})
    with pytest.raises(JobFailed, match=rf"{topic}-0 has no record of 5000"):
        read(servers, subscribe=topic, startingOffsetsByTimestamp=late)
    latest = {"startingOffsetsByTimestampStrategy": "latest"}
    rows = read(servers, subscribe=topic, startingOffsetsByTimestamp=late, **latest)
    assert values(rows) == [b"other"]


def test_assigned_partitions_and_topics_of_a_pattern(servers: str, topic: str) -> None:
    fill(servers, topic, [{"value": b"%d" % n, "partition": n} for n in (0, 1)])
    assert values(read(servers, assign=json.dumps({topic: [1]}))) == [b"1"]
    pattern = f"{topic[:-1]}[{topic[-1]}]"
    assert sorted(map(str, values(read(servers, subscribePattern=pattern)))) == ["b'0'", "b'1'"]


def test_ranges_are_split_and_each_row_is_read_once(servers: str, topic: str) -> None:
    from interfaces.spark.kafka import consumers

    fill(servers, topic, numbers(0, 1000))
    rows = read(servers, subscribe=topic, minPartitions="7")
    assert [row["offset"] for row in rows] == list(range(1000))
    assert len(consumers._cached) == 1


@pytest.mark.parametrize("part_of_record", ["value", "key", "headers"])
def test_batches_of_large_records_are_small(servers: str, topic: str, part_of_record: str) -> None:
    large: list[Any] = [b"%03d" % n * 150_000 for n in range(40)]
    if part_of_record == "headers":
        large = [[("large", one)] for one in large]
    fill(servers, topic, [{"value": None, part_of_record: one} for one in large])
    reader = batch_reader(servers, subscribe=topic, includeHeaders="true")
    [part] = reader.partitions()
    batches = list(reader.read(part))
    assert sum(len(batch) for batch in batches) == 40
    assert max(batch.nbytes for batch in batches) < 10_000_000


def test_a_pattern_may_match_no_topic(servers: str) -> None:
    assert read(servers, subscribePattern=f"{unused_topic_name()}.*") == []


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"subscribe": "not-there"}, "topic not-there at 127"),
        ({"assign": '{"TOPIC": [7]}'}, "partition TOPIC-7 at 127"),
        ({"subscribe": "TOPIC", "startingOffsets": '{"TOPIC": {"0": 1}}'}, "TOPIC-1"),
        ({"subscribe": "TOPIC", "startingOffsets": '{"TOPIC": {"0": 9, "1": 0}}'}, "TOPIC-0"),
    ],
)
def test_missing_topics_and_partitions_are_reported_in_a_line(
    servers: str, topic: str, options: dict[str, str], named: str
) -> None:
    given = {name: text.replace("TOPIC", topic) for name, text in options.items()}
    with pytest.raises((JobFailed, WrongOption), match=named.replace("TOPIC", topic)) as failure:
        read(servers, **given)
    assert "\n" not in str(failure.value)


def test_reading_a_missing_topic_does_not_create_it(servers: str) -> None:
    with pytest.raises(JobFailed):
        read(servers, subscribe="not-created")
    assert "not-created" not in topics.admin(servers).list_topics(timeout=30).topics


def test_a_missing_broker_is_reported_at_once() -> None:
    started = time.monotonic()
    with pytest.raises(JobFailed, match=r"127\.0\.0\.1:1: connection refused"):
        read("127.0.0.1:1", subscribe="t")
    assert time.monotonic() - started < 10


def test_a_thousand_partitions_are_planned_with_a_few_requests(servers: str) -> None:
    topic = unused_topic_name()
    create(servers, topic, 1000)
    fill(servers, topic, [{"value": b"v", "partition": n} for n in range(1000)])
    started = time.monotonic()
    ranges = batch_reader(servers, subscribe=topic).ranges()
    assert time.monotonic() - started < 10
    assert [(r.place.partition, r.start, r.end) for r in ranges] == [(n, 0, 1) for n in range(1000)]


def test_a_range_is_read_over_a_restart_of_the_broker(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path / "broker") as broker:
        create(broker.bootstrap, "t")
        fill(broker.bootstrap, "t", [b"%07d" % n * 64 for n in range(30_000)])
        small = {
            "kafka__queued__max__messages__kbytes": "64",
            "kafka__max__partition__fetch__bytes": "65536",
        }
        reader = batch_reader(broker.bootstrap, subscribe="t", **small)
        [part] = reader.partitions()
        batches = reader.read(part)
        first = next(batches)
        broker.kill()
        broker.start()
        found = [first, *batches]
    assert len(first) < 15_000
    assert [n for batch in found for n in batch["offset"].to_pylist()] == list(range(30_000))


def test_a_broker_that_stays_down_fails_a_range(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path / "broker") as broker:
        create(broker.bootstrap, "t")
        fill(broker.bootstrap, "t", numbers(0, 10))
        patience = {"kafkaConsumer__pollTimeoutMs": "1500"}
        reader = batch_reader(broker.bootstrap, subscribe="t", **patience)
        [part] = reader.partitions()
    with pytest.raises(JobFailed, match=r"^t-0: .* for 1\.5 s at offset 0: .*refused"):
        list(reader.read(part))


def test_a_topic_deleted_after_planning_is_lost_data(servers: str) -> None:
    topic = unused_topic_name()
    create(servers, topic)
    fill(servers, topic, numbers(0, 10))
    soon = {"kafka__topic__metadata__propagation__max__ms": "500"}
    strict = batch_reader(servers, subscribe=topic, **soon)
    lenient = batch_reader(servers, subscribe=topic, failOnDataLoss="false", **soon)
    [part] = strict.partitions()
    topics.delete(servers, topic)
    with pytest.raises(JobFailed, match=rf"^{topic}-0 is not there"):
        list(strict.read(part))
    assert list(lenient.read(part)) == []
