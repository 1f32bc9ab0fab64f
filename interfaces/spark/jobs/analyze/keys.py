"""What is asked of keys: how many there are, which are the hottest, what compaction would leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Of a key as it is shown.
_SHOWN_BYTES = 64


class KeysOfPartition(NamedTuple):
    distinct: int = 0
    #: Bytes of the newest records of the keys, and how many of these are tombstones.
    left_bytes: int = 0
    left_tombstones: int = 0


class KeysOfTopic(NamedTuple):
    distinct: int = 0
    #: Keys that more than one partition has: their order is lost.
    scattered: int = 0
    hottest: tuple[dict[str, Any], ...] = ()


def summed(counted: DataFrame) -> DataFrame:
    """A row for each key of a partition."""
    from pyspark.sql import functions as f

    rows = counted.where("key is not null").groupBy("topic", "partition", "key")
    return rows.agg(
        f.sum("records").alias("records"),
        f.sum("bytes").alias("bytes"),
        f.max_by("left", "newest").alias("left"),
    )


def of_partitions(keys: DataFrame) -> dict[tuple[str, int], KeysOfPartition]:
    from pyspark.sql import functions as f

    is_tombstone = f.col("left") < 0
    size = f.when(is_tombstone, -f.col("left") - 1).otherwise(f.col("left"))
    rows = keys.groupBy("topic", "partition").agg(
        f.count("*").alias("distinct"),
        f.sum(size).alias("left_bytes"),
        f.count_if(is_tombstone).alias("left_tombstones"),
    )
    return {
        (row["topic"], row["partition"]): KeysOfPartition(
            row["distinct"], row["left_bytes"], row["left_tombstones"]
        )
        for row in rows.collect()
    }


def of_topics(keys: DataFrame, hottest: int) -> dict[str, KeysOfTopic]:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    whole = keys.groupBy("topic", "key").agg(
        f.sum("records").alias("records"),
        f.sum("bytes").alias("bytes"),
        f.count("*").alias("partitions"),
    )
    rows = whole.groupBy("topic").agg(
        f.count("*").alias("distinct"), f.count_if(f.col("partitions") > 1).alias("scattered")
    )
    found = {row["topic"]: KeysOfTopic(row["distinct"], row["scattered"]) for row in rows.collect()}
    # Spark keeps no more than that many of each topic while it sorts.
    rank = f.row_number().over(Window.partitionBy("topic").orderBy(f.desc("records"), "key"))
    ranked = whole.withColumn("rank", rank).where(f.col("rank") <= hottest)
    shown = ranked.select(
        *("topic", "rank", "records", "bytes", "partitions"),
        f.substring("key", 1, _SHOWN_BYTES + 1).alias("key"),
    )
    named: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(shown.collect(), key=lambda row: (row["topic"], row["rank"])):
        counts = {name: row[name] for name in ("records", "bytes", "partitions")}
        named.setdefault(row["topic"], []).append({"key": as_text(bytes(row["key"])), **counts})
    return {
        topic: keys_of._replace(hottest=tuple(named.get(topic, ())))
        for topic, keys_of in found.items()
    }


def as_text(key: bytes) -> str:
    """What can be read is text, everything else is 0x and its digits; dots stand for the rest."""
    shown, dots = key[:_SHOWN_BYTES], "..." if len(key) > _SHOWN_BYTES else ""
    # The last character may be cut in two.
    for end in range(len(shown), max(len(shown) - 4 * bool(dots), 0) - 1, -1):
        try:
            text = shown[:end].decode()
        except UnicodeDecodeError:
            continue
        if text.isprintable():
            return f"{text}{dots}"
        break
    return f"0x{shown.hex()}{dots}"
