"""The data source `ottla` in queries of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from interfaces.spark.query.failures import WrongOption, cause_of
from tests.e2e.spark.kafka.topics import fill

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "timestampType int"
)


@pytest.fixture
def filled(servers: str, topic: str) -> str:
    """Timestamps are not in the order of the offsets."""
    times = [1000 + 10 * n + (7 * n % 13 - 6) * 40 for n in range(300)]
    fill(
        servers,
        topic,
        [{"value": b"%d" % n, "partition": n % 2, "timestamp": ms} for n, ms in enumerate(times)],
    )
    return topic


def load(spark: SparkSession, servers: str, **options: str) -> DataFrame:
    reader = spark.read.format("ottla").option("kafka.bootstrap.servers", servers)
    return reader.options(**options).load()


def test_the_columns_are_those_of_the_connector(
    spark: SparkSession, servers: str, filled: str
) -> None:
    from pyspark.sql.types import _parse_datatype_string as schema

    found = load(spark, servers, subscribe=filled)
    assert found.schema == schema(COLUMNS)
    with_headers = load(spark, servers, subscribe=filled, includeHeaders="true")
    headers = "headers array<struct<key: string, value: binary>>"
    assert with_headers.schema == schema(f"{COLUMNS}, {headers}")
    assert with_headers.selectExpr("count(1)", "count(headers)").first() == (300, 0)


def test_a_view_in_sql_is_read_and_a_table_is_refused(
    spark: SparkSession, servers: str, filled: str
) -> None:
    options = f"(`kafka.bootstrap.servers` '{servers}', subscribe '{filled}')"
    spark.sql(f"CREATE TEMPORARY VIEW filled USING ottla OPTIONS {options}")
    try:
        counted = spark.sql("SELECT partition, count(*) FROM filled GROUP BY ALL ORDER BY ALL")
        assert [tuple(row) for row in counted.collect()] == [(0, 150), (1, 150)]
    finally:
        spark.catalog.dropTempView("filled")
    with pytest.raises(Exception, match="CREATE TEMPORARY VIEW"):
        spark.sql(f"CREATE TABLE filled USING ottla OPTIONS {options}")


def test_rows_are_read_by_min_partitions_tasks(
    spark: SparkSession, servers: str, filled: str
) -> None:
    found = load(spark, servers, subscribe=filled, minPartitions="5")
    assert found.rdd.getNumPartitions() == 5
    rows = found.selectExpr("partition", "offset", "cast(value as string) v").collect()
    assert sorted((r.partition, r.offset, int(r.v)) for r in rows) == [
        (n % 2, n // 2, n) for n in sorted(range(300), key=lambda n: (n % 2, n))
    ]


def test_pushed_filters_give_the_same_rows_with_fewer_tasks(
    spark: SparkSession, servers: str, filled: str
) -> None:
    condition = "partition = 1 and offset < 99 and timestamp >= timestamp_millis(1300)"
    plain = load(spark, servers, subscribe=filled).filter(condition)
    pushed = load(spark, servers, subscribe=filled, pushDownFilters="true").filter(condition)
    rows = sorted(pushed.collect())
    assert rows and rows == sorted(plain.collect())
    assert pushed.rdd.getNumPartitions() == 1


@pytest.mark.long
def test_one_dataframe_serves_different_filters(
    spark: SparkSession, servers: str, filled: str
) -> None:
    found = load(spark, servers, subscribe=filled)
    assert found.filter("partition = 1 and offset < 10").count() == 10
    assert found.count() == 300
    both = found.filter("partition = 0").union(found.filter("partition = 1"))
    assert both.select("value").distinct().count() == 300


def test_without_pushdown_in_the_session_spark_filters(
    spark: SparkSession, servers: str, filled: str
) -> None:
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    try:
        found = load(spark, servers, subscribe=filled, pushDownFilters="true")
        assert found.filter("partition = 1").count() == 150
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")


def test_a_wrong_option_is_found_in_what_spark_raises(spark: SparkSession, servers: str) -> None:
    with pytest.raises(Exception) as failure:  # noqa: PT011  (Spark's, of several classes)
        load(spark, servers).count()
    assert isinstance(cause_of(failure.value), WrongOption)
