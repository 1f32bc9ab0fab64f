"""`df.write.format("ottla")`: what a frame has is what the topic has, or there is one line."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.spark.query.failures import JobFailed, WrongOption, cause_of
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic, unused_topic_name
from tests.e2e.spark.sink.records import Found, records, values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(150)  # who comes first waits for Spark

HEADERS = "array<struct<key: string, value: binary>>"
TIME = datetime(2021, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
TIME_MS = 1_612_325_106_789


def write(frame: DataFrame, servers: str, **options: Any) -> None:
    writer = frame.write.format("ottla").mode("append")
    writer.option("kafka.bootstrap.servers", servers).options(**options).save()


def why_not(frame: DataFrame, servers: str, **options: Any) -> JobFailed | WrongOption:
    with pytest.raises(Exception, match=r"interfaces\.spark\.query\.failures") as raised:
        write(frame, servers, **options)
    return cause_of(raised.value)


def test_every_column_arrives(spark: SparkSession, servers: str, topic: str) -> None:
    rows: list[tuple[Any, ...]] = [
        (b"k0", b"v0", 1, [("a", b"1"), ("a", None)], TIME),
        (None, b"", 0, [], TIME),
        (b"", None, 1, None, TIME),
        ("kř".encode(), "vž".encode(), 0, [("č", b"")], TIME),
    ]
    schema = f"key binary, value binary, partition int, headers {HEADERS}, timestamp timestamp"
    frame = spark.createDataFrame(rows, schema).coalesce(1)

    write(frame, servers, topic=topic, useTimestamp="true")

    assert records(servers, topic) == [
        [
            Found(None, b"", [], TIME_MS),
            Found("kř".encode(), "vž".encode(), [("č", b"")], TIME_MS),
        ],
        [
            Found(b"k0", b"v0", [("a", b"1"), ("a", None)], TIME_MS),
            Found(b"", None, [], TIME_MS),
        ],
    ]


def test_a_column_names_the_topic_and_the_option_wins(
    spark: SparkSession, spark_broker: BrokerProcess, servers: str
) -> None:
    one, two, three = (new_topic(spark_broker) for _ in range(3))
    frame = spark.createDataFrame([(one, "a"), (two, "b")], "topic string, value string")
    write(frame, servers)
    write(frame, servers, topic=three)
    assert values(servers, one) == [b"a"]
    assert values(servers, two) == [b"b"]
    assert sorted(map(str, values(servers, three))) == ["b'a'", "b'b'"]


def test_the_order_of_a_task_is_that_of_a_partition(
    spark: SparkSession, servers: str, topic: str
) -> None:
    """More rows than the producer keeps at once: some have to wait for room."""
    count = 60_000
    frame = spark.range(0, count, 1, 1).selectExpr(
        "CAST(id AS STRING) AS value", "CAST(id % 2 AS INT) AS partition"
    )
    write(frame, servers, topic=topic, **{"kafka.queue.buffering.max.messages": "5000"})
    even, odd = records(servers, topic)
    assert [record.value for record in even] == [b"%d" % n for n in range(0, count, 2)]
    assert [record.value for record in odd] == [b"%d" % n for n in range(1, count, 2)]


def test_a_replay_can_be_dropped(spark: SparkSession, servers: str, topic: str) -> None:
    frame = spark.range(0, 5, 1, 2).selectExpr("CAST(id AS STRING) AS value")
    write(frame, servers, topic=topic, recordProvenance="true")
    headers = [r.headers for partition in records(servers, topic) for r in partition]
    assert all(len(of) == 1 and of[0][0] == "ottla.provenance" for of in headers)
    places = sorted(str(of[0][1], "ascii").split("/") for of in headers if of[0][1])
    assert len({query for query, *_ in places}) == 1
    assert [place[1:] for place in places] == [
        *(["0", "0", row] for row in "01"),
        *(["0", "1", row] for row in "012"),
    ]


@pytest.mark.parametrize(
    "columns, options, told",
    [
        ("id AS number", {"topic": "t"}, "the column value is missing; there is number ("),
        ("id AS value", {"topic": "t"}, "the column value is bigint, not a string or binary"),
        ("'x' AS value", {}, "no topic: give the option topic, or a column topic"),
        ("'x' AS value, 7L AS partition", {"topic": "t"}, "the column partition is bigint, not an"),
        ("'x' AS value, 'h' AS headers", {"topic": "t"}, "the column headers is string, not an ar"),
        ("'x' AS value", {"topic": "t", "useTimestamp": "true"}, "useTimestamp=true, and there is"),
        ("'x' AS value", {"topic": "t", "recordProvenence": "true"}, "there is no option 'recordp"),
        (
            "'x' AS value",
            {"topic": "t", "kafka.transactional.id": "x"},
            "kafka.transactional.id cannot be set: records are not written in transactions",
        ),
    ],
)
def test_what_cannot_be_written_is_told_before_a_row_is_sent(
    spark: SparkSession, servers: str, columns: str, options: dict[str, str], told: str
) -> None:
    cause = why_not(spark.range(1).selectExpr(*columns.split(", ")), servers, **options)
    assert isinstance(cause, WrongOption)
    assert str(cause).startswith(told)


def test_a_topic_is_not_overwritten(spark: SparkSession, servers: str) -> None:
    frame = spark.range(1).selectExpr("'x' AS value")
    writer = frame.write.format("ottla").mode("overwrite").option("topic", "t")
    with pytest.raises(Exception, match="a topic cannot be overwritten"):
        writer.option("kafka.bootstrap.servers", servers).save()


def test_a_record_that_is_too_large_is_named(
    spark: SparkSession, spark_broker: BrokerProcess, servers: str
) -> None:
    topic = new_topic(spark_broker, max__message__bytes="50000")
    frame = spark.range(1).selectExpr("repeat('x', 2000000) AS value")
    cause = why_not(frame, servers, topic=topic)
    assert str(cause) == (
        f"a record of 2000000 bytes for topic '{topic}' is larger than kafka.max.request.size "
        "allows"
    )
    frame = spark.range(1).selectExpr("repeat('x', 60000) AS value")
    assert str(why_not(frame, servers, topic=topic)).startswith(
        f"topic '{topic}' does not take a batch with a record of 60000 bytes: its max.message.bytes"
    )


def test_records_that_a_topic_refuses_are_told_with_the_reason(
    spark: SparkSession, spark_broker: BrokerProcess, servers: str
) -> None:
    topic = new_topic(spark_broker, message__timestamp__after__max__ms="3600000")
    times = "timestamp_millis(IF(id % 2 = 1, 33344332800000, 1700000000000)) AS timestamp"
    frame = spark.range(6).selectExpr("'x' AS value", times).coalesce(1)
    told = str(why_not(frame, servers, topic=topic, useTimestamp="true"))
    assert told.startswith(f"topic '{topic}': Broker")
    assert "a time that message.timestamp.before.max.ms or message.timestamp.after.max.ms" in told


def test_a_record_that_never_fits_into_the_producers_memory_is_named(
    spark: SparkSession, servers: str, topic: str
) -> None:
    frame = spark.range(1).selectExpr("repeat('x', 900000) AS value")
    told = str(why_not(frame, servers, topic=topic, **{"kafka.buffer.memory": "100000"}))
    assert told.startswith(f"a record of 900000 bytes for topic '{topic}' is larger than kafka.buf")


def test_a_partition_that_is_not_there_is_named(
    spark: SparkSession, servers: str, topic: str
) -> None:
    frame = spark.range(1).selectExpr("'x' AS value", "7 AS partition")
    assert str(why_not(frame, servers, topic=topic)) == f"topic '{topic}' has no partition 7"


def test_a_row_that_cannot_be_sent_is_named(spark: SparkSession, servers: str, topic: str) -> None:
    frame = spark.createDataFrame([(topic, "x"), (None, "y")], "topic string, value string")
    assert str(why_not(frame.coalesce(1), servers)).startswith("row 1 has no topic (")


def test_a_topic_that_is_not_there_is_named_soon(spark: SparkSession, tmp_path: Any) -> None:
    frame = spark.range(1).selectExpr("'x' AS value")
    with BrokerProcess(tmp_path, "memory", ["--set", "auto.create.topics.enable=false"]) as broker:
        topic = unused_topic_name()
        started = time.monotonic()
        cause = why_not(frame, broker.bootstrap, topic=topic)
        assert time.monotonic() - started < 30
        assert str(cause) == f"there is no topic '{topic}' at {broker.bootstrap}"


def test_no_broker_is_told_soon(spark: SparkSession) -> None:
    frame = spark.range(1).selectExpr("'x' AS value")
    started = time.monotonic()
    cause = why_not(frame, "127.0.0.1:1", topic="t")
    assert time.monotonic() - started < 30
    assert str(cause) == "no broker at 127.0.0.1:1: connection refused"
