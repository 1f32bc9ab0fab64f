"""The figures of an analysis as JSON: what `--json` writes, and lines and pages are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from interfaces.spark.jobs.analyze import forecast
from interfaces.spark.jobs.analyze.counting import PERCENTILES, Place
from interfaces.spark.jobs.analyze.keys import KeysOfPartition, KeysOfTopic

_FIRST_YEAR_MS, _LAST_YEAR_MS = -62_135_596_800_000, 253_402_300_799_999

LEFT_OUT = "Batches, codecs and compression are known to the store alone: --data has them"


class Found(NamedTuple):
    """What the queries found; an empty topic or partition is in none of it."""

    figures: Mapping[Place, Mapping[str, Any]]
    sizes: Mapping[str, Mapping[str, Any]]
    intervals: Mapping[Place, Mapping[str, Any]]
    not_records: Mapping[Place, Mapping[str, Any]]
    over_time: Mapping[str, tuple[int, Sequence[Any]]]
    last_day: Mapping[str, Any]
    keys_of_partitions: Mapping[tuple[str, int], KeysOfPartition]
    keys_of_topics: Mapping[str, KeysOfTopic]
    #: Of a broker there are none.
    codecs: Mapping[Place, Sequence[Mapping[str, Any]]] | None = None
    sizes_of_batches: Mapping[Place, Mapping[str, Any]] = {}


def result_of(
    found: Found,
    partitions: Mapping[str, int],
    where: str,
    disk: int | None,
    end_ms: int,
    now_ms: int,
) -> dict[str, Any]:
    """`partitions`: how many each topic has; `end_ms`: of the last day."""
    of_store = found.codecs is not None
    topics = [_topic(name, partitions[name], found, end_ms) for name in sorted(partitions)]
    return {
        "source": where,
        "kind": "data folder" if of_store else "broker",
        "at": moment(now_ms),
        "left_out": None if of_store else LEFT_OUT,
        "topics": topics,
        "forecast": _forecast(topics, of_store, disk, end_ms, now_ms),
    }


def _topic(name: str, count: int, found: Found, end_ms: int) -> dict[str, Any]:
    figures = found.figures.get((name, None), {})
    partitions = [_partition(name, number, found) for number in range(count)]
    keys = found.keys_of_topics.get(name, KeysOfTopic())
    width_s, moments = found.over_time.get(name, (1, ()))
    return {
        "topic": name,
        **_counts((name, None), found),
        "record_sizes": _record_sizes(figures, found.sizes.get(name, {})),
        "skew": {of: _skew([each[of] for each in partitions]) for of in ("records", "bytes")},
        "keys": {"distinct": keys.distinct, "scattered": keys.scattered},
        "hot_keys": [
            {**each, "share": _share(each["records"], figures["records"])} for each in keys.hottest
        ],
        "compaction": _compaction(name, count, found),
        "batches": _batches((name, None), found),
        "times": _times((name, None), found),
        "over_time": {"seconds": width_s, "moments": [_moment_of(each) for each in moments]},
        "forecast": _a_day(name, found, end_ms),
        "partitions": partitions,
        "problems": found.not_records.get((name, None), {}).get("problems", []),
    }


def _partition(topic: str, number: int, found: Found) -> dict[str, Any]:
    place = topic, number
    return {
        "partition": number,
        **_counts(place, found),
        "batches": _batches(place, found),
        "times": _times(place, found),
        "keys": found.keys_of_partitions.get(place, KeysOfPartition()).distinct,
    }


def _counts(place: Place, found: Found) -> dict[str, Any]:
    figures, others = found.figures.get(place, {}), found.not_records.get(place, {})
    records, null_keys, tombstones = (
        figures.get(name, 0) for name in ("records", "null_keys", "tombstones")
    )
    sizes = ("bytes", "key_bytes", "value_bytes", "header_bytes")
    return {
        "records": records,
        **{name: figures.get(name, 0) for name in sizes},
        "null_keys": null_keys,
        "null_key_share": _share(null_keys, records),
        "tombstones": tombstones,
        "tombstone_share": _share(tombstones, records),
        "control_records": others.get("control_records", 0),
        "damaged": others.get("damaged", 0),
    }


def _compaction(topic: str, partitions: int, found: Found) -> dict[str, Any]:
    """If it went up to the end: a record is left where no newer one has its key."""
    places = [(topic, number) for number in range(partitions)]
    left = [found.keys_of_partitions.get(place, KeysOfPartition()) for place in places]
    whole = found.figures.get((topic, None), {})
    records, size = sum(each.distinct for each in left), sum(each.left_bytes for each in left)
    return {
        "records": records,
        "share": _share(records, whole.get("records", 0)),
        "bytes": size,
        "share_of_bytes": _share(size, whole.get("bytes", 0)),
        "tombstones": sum(each.left_tombstones for each in left),
    }


def _record_sizes(figures: Mapping[str, Any], sizes: Mapping[str, Any]) -> dict[str, Any]:
    by_bits = sizes.get("by_bits", [])
    used = [bits for bits, records in enumerate(by_bits) if records]
    every = range(used[0], used[-1] + 1) if used else ()
    return {
        **_percentiles(sizes),
        "mean": _share(figures.get("bytes", 0), figures.get("records", 0)),
        "histogram": [
            {"from": 1 << bits >> 1, "to": (1 << bits) - 1, "records": by_bits[bits] or 0}
            for bits in every
        ],
    }


def _times(place: Place, found: Found) -> dict[str, Any]:
    figures, intervals = found.figures.get(place, {}), found.intervals.get(place, {})
    out_of_order = intervals.get("out_of_order", 0)
    return {
        "oldest": moment(figures.get("oldest_ms")),
        "newest": moment(figures.get("newest_ms")),
        "intervals_ms": _percentiles(intervals),
        "out_of_order": out_of_order,
        "out_of_order_share": _share(out_of_order, intervals.get("intervals", 0)),
    }


def _moment_of(row: Any) -> dict[str, Any]:
    at_ms = row["start_s"] * 1000
    return {"from": moment(at_ms), "ms": at_ms, "records": row["records"], "bytes": row["bytes"]}


def _batches(place: Place, found: Found) -> dict[str, Any] | None:
    if found.codecs is None:
        return None
    codecs, sizes = found.codecs.get(place, ()), found.sizes_of_batches.get(place, {})
    stored, opened = (sum(each[f"{of}_bytes"] for each in codecs) for of in ("stored", "opened"))
    return {
        "batches": sum(each["batches"] for each in codecs),
        "stored_bytes": stored,
        "opened_bytes": opened,
        "ratio": opened / stored if stored else None,
        "stored_of_bytes": _share(stored, found.figures.get(place, {}).get("bytes", 0)),
        "records": _percentiles(sizes.get("batchRecords", {})),
        "sizes": _percentiles(sizes.get("batchBytes", {})),
        "codecs": list(codecs),
    }


def _a_day(topic: str, found: Found, end_ms: int) -> dict[str, Any] | None:
    day = found.last_day.get(topic)
    records, size = 0, 0.0
    if day is not None:
        records, size = day["records"], day["bytes" if found.codecs is None else "stored_bytes"]
    oldest_ms = found.figures.get((topic, None), {}).get("oldest_ms")
    rate = forecast.rate_of(records, size, oldest_ms, end_ms)
    return rate and {
        "seconds": rate.span_ms / 1000,
        "records_per_day": round(rate.records_per_day),
        **forecast.per_day(rate.bytes_per_day),
    }


def _forecast(
    topics: list[dict[str, Any]], of_store: bool, disk: int | None, end_ms: int, now_ms: int
) -> dict[str, Any]:
    known = [each["forecast"] for each in topics if each["forecast"]]
    bytes_per_day = sum(each["bytes_per_day"] for each in known)
    used = sum(each["batches"]["stored_bytes"] if of_store else each["bytes"] for each in topics)
    records = "records, as if nothing were compressed"
    found: dict[str, Any] = {
        "of": "batches as they are stored" if of_store else records,
        "day_ends": moment(end_ms),
        "seconds": min((each["seconds"] for each in known), default=None),
        "bytes": used,
        **forecast.per_day(bytes_per_day),
    }
    if disk is not None:
        found["disk_bytes"] = disk
        found["disk_full_on"] = forecast.full_on(disk, used, bytes_per_day, now_ms)
    return found


def _percentiles(figures: Mapping[str, Any]) -> dict[str, int]:
    each = figures.get("percentiles") or [0] * len(PERCENTILES)
    named = {f"p{at:g}": round(value) for at, value in zip(PERCENTILES, each, strict=True)}
    return {**named, "max": figures.get("max") or 0}


def _skew(counts: list[int]) -> float:
    """The largest partition beside the average: 1 is even."""
    return max(counts) * len(counts) / sum(counts) if sum(counts) else 1.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def moment(at_ms: int | None) -> str | None:
    """Producers may send times beyond the year 9999: these stay numbers."""
    if at_ms is None:
        return None
    if not _FIRST_YEAR_MS <= at_ms <= _LAST_YEAR_MS:
        return f"{at_ms} ms"
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
