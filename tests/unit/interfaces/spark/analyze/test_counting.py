"""However a partition is cut into ranges and batches of Arrow, the figures are those of the whole;
and a key is counted once for each."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interfaces.spark.jobs.analyze.figures import Figures, of_partition

if TYPE_CHECKING:
    from collections.abc import Sequence

pyarrow = pytest.importorskip("pyarrow", reason="needs what Spark brings")
pytest.importorskip("numpy", reason="needs what Spark brings")

NOW_MS = 1_704_931_200_000
#: Key, size of the value (None: a tombstone), time; and records of the batch that begins there.
Record = tuple[bytes | None, int | None, int, bool]

records = st.lists(
    st.tuples(
        st.sampled_from([None, b"", b"a", b"b", b"long key"]),
        st.none() | st.integers(0, 5000),
        st.integers(NOW_MS - 3 * 86_400_000, NOW_MS + 1000)
        | st.sampled_from([0, -1, 2**53, NOW_MS]),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)
cuts = st.lists(st.integers(0, 40), max_size=6)


def columns_of(rows: Sequence[Record]) -> list[dict[str, Any]]:
    starts = [at for at, row in enumerate(rows) if at == 0 or row[3]]
    made = []
    for offset, (key, value, at_ms, _) in enumerate(rows):
        start = max(each for each in starts if each <= offset)
        end = min((each for each in starts if each > offset), default=len(rows))
        made.append(
            {
                "topic": "orders",
                "partition": 0,
                "offset": offset,
                "key": key,
                "batchOffset": start,
                "batchRecords": end - start,
                "batchBytes": 100 + start,
                "batchOpenedBytes": 300 + start,
                "codec": "gzip" if start % 2 else "none",
                "isControl": False,
                "problem": None,
                "at_ms": at_ms,
                "key_size": None if key is None else len(key),
                "value_size": value,
                "header_size": offset % 3,
            }
        )
    return made


def schema() -> Any:
    numbers = dict.fromkeys(
        ("offset", "batchOffset", "batchRecords", "batchBytes", "batchOpenedBytes", "at_ms"),
        pyarrow.int64(),
    )
    sizes = dict.fromkeys(("key_size", "value_size", "header_size", "partition"), pyarrow.int32())
    texts = dict.fromkeys(("topic", "codec", "problem"), pyarrow.string())
    return pyarrow.schema(
        {**numbers, **sizes, **texts, "key": pyarrow.binary(), "isControl": pyarrow.bool_()}
    )


def parts(rows: list[dict[str, Any]], cut: list[int]) -> list[list[dict[str, Any]]]:
    edges = sorted({0, len(rows), *(each for each in cut if each < len(rows))})
    return [rows[a:b] for a, b in pairwise(edges)]


def count(ranges: list[list[dict[str, Any]]], cut: list[int]) -> tuple[Figures, Any]:
    from interfaces.spark.jobs.analyze.counting import counted

    figures, keys = [], []
    for rows in ranges:
        batches = [
            pyarrow.RecordBatch.from_pylist(part, schema=schema()) for part in parts(rows, cut)
        ]
        for row in pyarrow.Table.from_batches(counted(iter(batches), NOW_MS)).to_pylist():
            if row["figures"] is None:
                keys.append(row)
            else:
                figures.append(Figures.from_json(json.loads(row["figures"])))
    return of_partition(reversed(figures)), keys


@given(records, cuts, cuts)
def test_ranges_add_up_to_the_whole(rows: list[Record], cut: list[int], again: list[int]) -> None:
    columns = columns_of(rows)
    whole, _ = count([columns], [])
    joined, keys = count(parts(columns, cut), again)
    one, other = whole.to_json(), joined.to_json()
    for name in ("sizes", "intervals", "moments", "sums", "oldest_ms", "newest_ms", "longest_ms"):
        assert one[name] == other[name]
    for name in ("codecs", "records", "sizes"):
        assert one["batches"][name] == other["batches"][name]
    assert one["last_day"].keys() == other["last_day"].keys()
    for minute, counts in one["last_day"].items():
        assert other["last_day"][minute] == pytest.approx(counts)
    starts = [at for at, row in enumerate(rows) if at == 0 or row[3]]
    assert sum(counts[0] for counts in joined.batches.codecs.values()) == len(starts)
    assert sum(counts[1] for counts in joined.batches.codecs.values()) == len(rows)
    check_keys(rows, keys)


def check_keys(rows: list[Record], keys: list[dict[str, Any]]) -> None:
    for key in {row[0] for row in rows if row[0] is not None}:
        told = [row for row in keys if row["key"] == key]
        assert sum(row["records"] for row in told) == sum(row[0] == key for row in rows)
        newest = max(told, key=lambda row: row["newest"])
        offset = max(at for at, row in enumerate(rows) if row[0] == key)
        value = rows[offset][1]
        left = len(key) + (value or 0) + offset % 3
        assert (newest["newest"], newest["left"]) == (
            offset,
            left if value is not None else -1 - left,
        )
    assert len({row["key"] for row in keys}) == len({row[0] for row in rows} - {None})
