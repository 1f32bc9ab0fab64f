"""The queries of an analysis over its records, which Spark reads once and keeps without values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: A topic and one of its partitions; None: the whole topic.
Place = tuple[str, int | None]

PERCENTILES = (50.0, 75.0, 95.0, 99.0, 99.9)
#: A second to ten days, and tenfold from there: producers may send any time.
WIDTHS_S = (1, 10, 60, 600, 3_600, 86_400, *(864_000 * 10**power for power in range(8)))
MOST_MOMENTS = 600
#: Damaged batches of a topic that are named; all are counted.
MOST_PROBLEMS = 5
DAY_S = 86_400
#: Of the size of a record: a batch has less than 2 GB.
_MOST_BITS = 31

_HEADER_BYTES = (
    "coalesce(aggregate(headers, 0L, (sum, header) -> "
    "sum + octet_length(header.key) + coalesce(octet_length(header.value), 0)), 0L)"
)
#: Parts of a record, whose bytes are counted.
_PARTS = ("key_bytes", "value_bytes", "header_bytes")
_BATCH = ("batchOffset", "batchRecords", "batchBytes", "batchOpenedBytes", "codec")


def without_values(read: DataFrame, of_store: bool) -> DataFrame:
    """What is counted of each row; `is_record` is false of transaction markers and damaged ones."""
    from pyspark.sql import functions as f

    sizes = {
        "key_bytes": f.coalesce(f.length("key"), f.lit(0)),
        "value_bytes": f.coalesce(f.length("value"), f.lit(0)),
        "header_bytes": f.expr(_HEADER_BYTES),
    }
    return read.select(
        *("topic", "partition", "offset", "key"),
        *(_BATCH if of_store else ()),
        f.unix_millis("timestamp").alias("at_ms"),
        f.isnull("key").alias("has_no_key"),
        f.isnull("value").alias("is_tombstone"),
        *(size.alias(name) for name, size in sizes.items()),
        sum(sizes.values(), f.lit(0).cast("bigint")).alias("bytes"),
        (f.expr("batchBytes / batchRecords") if of_store else f.lit(0.0)).alias("stored_bytes"),
        f.expr("problem is null and not isControl" if of_store else "true").alias("is_record"),
        (f.col("problem") if of_store else f.lit(None).cast("string")).alias("problem"),
    )


def by_size(records: DataFrame) -> DataFrame:
    """Of each partition: records of each size, and their figures."""
    from pyspark.sql import functions as f

    return records.groupBy("topic", "partition", "bytes").agg(
        f.count("*").alias("records"),
        *(f.sum(name).alias(name) for name in _PARTS),
        f.count_if("has_no_key").alias("null_keys"),
        f.count_if("is_tombstone").alias("tombstones"),
        f.min("at_ms").alias("oldest_ms"),
        f.max("at_ms").alias("newest_ms"),
    )


def figures(by_size: DataFrame) -> dict[Place, dict[str, Any]]:
    from pyspark.sql import functions as f

    return _by_place(
        by_size,
        *(f.sum(name).alias(name) for name in ("records", *_PARTS, "null_keys", "tombstones")),
        f.sum(f.col("bytes") * f.col("records")).alias("bytes"),
        f.min("oldest_ms").alias("oldest_ms"),
        f.max("newest_ms").alias("newest_ms"),
    )


def sizes(by_size: DataFrame) -> dict[str, dict[str, Any]]:
    """Percentiles of each topic, and records by the bits of their size: of 0 bytes, of 1, of 2 to
    3, of 4 to 7 ..."""
    from pyspark.sql import functions as f

    bits = f.when(f.col("bytes") == 0, 0).otherwise(f.length(f.bin("bytes")))
    by_bits = (f.sum(f.when(bits == each, f.col("records"))) for each in range(_MOST_BITS + 1))
    found = by_size.groupBy("topic").agg(
        *_percentiles("bytes", "records"), f.array(*by_bits).alias("by_bits")
    )
    return {row["topic"]: row.asDict() for row in found.collect()}


def intervals(records: DataFrame) -> dict[Place, dict[str, Any]]:
    """From each record to the next one of its partition, in ms; below 0 it is out of order."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    in_order = Window.partitionBy("topic", "partition").orderBy("offset")
    interval = f.col("at_ms") - f.lag("at_ms").over(in_order)
    timed = records.where("at_ms is not null").select("topic", "partition", "offset", "at_ms")
    each = timed.select("topic", "partition", interval.alias("interval_ms"))
    counted = each.where("interval_ms is not null").groupBy("topic", "partition", "interval_ms")
    forwards = f.expr("CASE WHEN interval_ms >= 0 THEN interval_ms END")
    return _by_place(
        counted.count(),
        f.sum("count").alias("intervals"),
        f.sum(f.expr("CASE WHEN interval_ms < 0 THEN count ELSE 0 END")).alias("out_of_order"),
        *_percentiles(forwards, "count"),
    )


def not_records(rows: DataFrame) -> dict[Place, dict[str, Any]]:
    """Damaged batches, with the reasons of the first of each topic, and transaction markers."""
    from pyspark.sql import functions as f

    reason = f.expr("concat(topic, '-', partition, ' at offset ', offset, ': ', problem)")
    place = f.when(f.isnotnull("problem"), f.struct("partition", "offset", reason.alias("reason")))
    first = f.slice(f.array_sort(f.collect_list(place)), 1, MOST_PROBLEMS)
    return _by_place(
        rows.where("not is_record"),
        f.count("problem").alias("damaged"),
        f.count_if(f.isnull("problem")).alias("control_records"),
        first.getField("reason").alias("problems"),
    )


def by_second(records: DataFrame) -> DataFrame:
    """Of each topic: records, their bytes, and those of the store."""
    from pyspark.sql import functions as f

    at_s = f.floor(f.col("at_ms") / 1000)
    grouped = records.where("at_ms is not null").groupBy("topic", at_s.alias("at_s"))
    counted = f.count("*").alias("records"), f.sum("bytes").alias("bytes")
    return grouped.agg(*counted, f.sum("stored_bytes").alias("stored_bytes"))


def over_time(
    seconds: DataFrame, figures: Mapping[Place, Mapping[str, Any]]
) -> dict[str, tuple[int, list[Any]]]:
    """Of each topic how many seconds a moment has, and its moments: about MOST_MOMENTS at most."""
    from pyspark.sql import functions as f

    timed = [each for each in figures.values() if each["oldest_ms"] is not None]
    span_s = max((each["newest_ms"] - each["oldest_ms"] for each in timed), default=0) / 1000
    # A span has at most one moment more than its length: only smaller widths are to be counted.
    enough = (each for each in WIDTHS_S if span_s / each < MOST_MOMENTS - 1)
    widest = next(enough, WIDTHS_S[-1])
    few = [
        f.when(f.approx_count_distinct(f.floor(f.col("at_s") / each)) <= MOST_MOMENTS, each)
        for each in WIDTHS_S
        if each < widest
    ]
    widths = seconds.groupBy("topic").agg(f.coalesce(*few, f.lit(widest)).alias("width_s"))
    start = f.floor(f.col("at_s") / f.col("width_s")) * f.col("width_s")
    rows = seconds.join(f.broadcast(widths), "topic").groupBy(
        "topic", "width_s", start.alias("start_s")
    )
    found: dict[str, tuple[int, list[Any]]] = {}
    summed = rows.agg(f.sum("records").alias("records"), f.sum("bytes").alias("bytes"))
    for row in sorted(summed.collect(), key=lambda row: row["start_s"]):
        found.setdefault(row["topic"], (row["width_s"], []))[1].append(row)
    return found


def last_day(seconds: DataFrame, end_ms: int) -> dict[str, Any]:
    """What came on the day that ends then: records, bytes and those of the store, by topic."""
    from pyspark.sql import functions as f

    end_s = end_ms // 1000
    names = ("records", "bytes", "stored_bytes")
    grouped = seconds.where(f.col("at_s").between(end_s - DAY_S + 1, end_s)).groupBy("topic")
    rows = grouped.agg(*(f.sum(name).alias(name) for name in names)).collect()
    return {row["topic"]: row for row in rows}


def batches(records: DataFrame) -> DataFrame:
    return records.select("topic", "partition", *_BATCH).distinct()


def sizes_of_batches(batches: DataFrame) -> dict[Place, dict[str, Any]]:
    """Percentiles of their records and of their bytes."""
    from pyspark.sql import functions as f

    columns = ("batchRecords", "batchBytes")
    each = (f.struct(*_percentiles(column)).alias(column) for column in columns)
    return _by_place(batches, *each)


def codecs(batches: DataFrame) -> dict[Place, list[dict[str, Any]]]:
    from pyspark.sql import functions as f

    sets = [["topic", "codec"], ["topic", "partition", "codec"]]
    rows = batches.groupingSets(sets, "topic", "partition", "codec").agg(
        f.count("*").alias("batches"),
        f.sum("batchRecords").alias("records"),
        f.sum("batchBytes").alias("stored_bytes"),
        f.sum("batchOpenedBytes").alias("opened_bytes"),
    )
    found: dict[Place, list[dict[str, Any]]] = {}
    for row in rows.orderBy("codec").collect():
        counts = row.asDict()
        place = counts.pop("topic"), counts.pop("partition")
        ratio = counts["opened_bytes"] / counts["stored_bytes"]
        found.setdefault(place, []).append({**counts, "ratio": ratio})
    return found


def _by_place(rows: DataFrame, *counted: Column) -> dict[Place, dict[str, Any]]:
    grouped = rows.groupingSets([["topic"], ["topic", "partition"]], "topic", "partition")
    found = grouped.agg(*counted).collect()
    return {(row["topic"], row["partition"]): row.asDict(recursive=True) for row in found}


def _percentiles(of: Column | str, count: str | None = None) -> list[Column]:
    """Exact ones; `count` is the column that has how often each value occurs."""
    from pyspark.sql import functions as f

    shares = [each / 100 for each in PERCENTILES]
    times = f.col(count) if count else 1
    return [f.percentile(of, shares, times).alias("percentiles"), f.max(of).alias("max")]
