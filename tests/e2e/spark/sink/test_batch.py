"""`df.write.format("ottla")`: rows become records, or the write fails in one line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.spark.query.failures import JobFailed, cause_of
from tests.e2e.conftest import Broker, new_topic
from tests.e2e.spark.kafka.topics import Found, records, values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HEADERS = "array<struct<key: string, value: binary>>"
TIME = datetime(2021, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
TIME_MS = 1_612_325_106_789


def write(frame: DataFrame, servers: str, **options: Any) -> None:
    writer = frame.write.format("ottla").mode("append")
    writer.option("kafka.bootstrap.servers", servers).options(**options).save()


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


@pytest.mark.long
def test_a_column_names_the_topic_and_the_option_wins(
    spark: SparkSession, spark_broker: Broker, servers: str
) -> None:
    one, two, three = (new_topic(spark_broker) for _ in range(3))
    frame = spark.createDataFrame([(one, "a"), (two, "b")], "topic string, value string")
    write(frame, servers)
    write(frame, servers, topic=three)
    assert values(servers, one) == [b"a"]
    assert values(servers, two) == [b"b"]
    assert sorted(map(str, values(servers, three))) == ["b'a'", "b'b'"]


def test_records_keep_the_order_of_the_rows(spark: SparkSession, servers: str, topic: str) -> None:
    """More rows than the producer's queue holds."""
    count = 60_000
    frame = spark.range(0, count, 1, 1).selectExpr(
        "CAST(id AS STRING) AS value", "CAST(id % 2 AS INT) AS partition"
    )
    write(frame, servers, topic=topic, **{"kafka.queue.buffering.max.messages": "5000"})
    even, odd = records(servers, topic)
    assert [record.value for record in even] == [b"%d" % n for n in range(0, count, 2)]
    assert [record.value for record in odd] == [b"%d" % n for n in range(1, count, 2)]


def test_a_task_that_fails_is_one_line_with_the_reason(
    spark: SparkSession, servers: str, topic: str
) -> None:
    frame = spark.range(1).selectExpr("repeat('x', 2000000) AS value")
    with pytest.raises(Exception, match=r"interfaces\.spark\.query\.failures") as raised:
        write(frame, servers, topic=topic)
    cause = cause_of(raised.value)
    assert isinstance(cause, JobFailed)
    assert "2000000" in str(cause) and "\n" not in str(cause)
