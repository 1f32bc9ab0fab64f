"""The queries of an analysis over keys: how many, the hottest, what compaction would leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Of a key as text.
_SHOWN_BYTES = 64


class KeysOfPartition(NamedTuple):
    distinct: int = 0
    #: Bytes of the newest records of the keys, and how many of these are tombstones.
    left_bytes: int = 0
    left_tombstones: int = 0


class KeysOfTopic(NamedTuple):
    distinct: int = 0
    #: Keys in more than one partition, whose order is lost.
    scattered: int = 0
    hottest: tuple[dict[str, Any], ...] = ()


def summed(records: DataFrame) -> DataFrame:
    """A row for each key of a partition. `left` is the size of the key's newest record, which
    compaction would leave; of a tombstone it is -1 - size."""
    from pyspark.sql import functions as f

    size = f.when(f.col("is_tombstone"), -1 - f.col("bytes")).otherwise(f.col("bytes"))
    return (
        records.where("key is not null")
        .groupBy("topic", "partition", "key")
        .agg(
            f.count("*").alias("records"),
            f.sum("bytes").alias("bytes"),
            f.max_by(size, "offset").alias("left"),
        )
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
    from pyspark.sql import functions as f

    counts = ("records", "bytes", "partitions")
    of_keys = keys.groupBy("topic", "key").agg(
        f.sum("records").alias("records"),
        f.sum("bytes").alias("bytes"),
        f.count("*").alias("partitions"),
    )
    shown = f.struct(*counts, f.substring("key", 1, _SHOWN_BYTES + 1).alias("key"))
    rows = of_keys.groupBy("topic").agg(
        f.count("*").alias("distinct"),
        f.count_if(f.col("partitions") > 1).alias("scattered"),
        f.max_by(shown, f.struct("records", "key"), hottest).alias("hottest"),
    )
    return {
        row["topic"]: KeysOfTopic(
            row["distinct"],
            row["scattered"],
            tuple(
                {"key": as_text(bytes(key["key"])), **{name: key[name] for name in counts}}
                for key in row["hottest"]
            ),
        )
        for row in rows.collect()
    }


def as_text(key: bytes) -> str:
    """Printable UTF-8 as it is, everything else in hex; dots stand for the rest."""
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
