"""All that was found, as JSON: what `--json` writes and what lines and pages are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from interfaces.spark.jobs.analyze import forecast
from interfaces.spark.jobs.analyze.figures import Figures
from interfaces.spark.jobs.analyze.keys import KeysOfPartition, KeysOfTopic
from interfaces.spark.reports.histogram import Histogram

_PERCENTILES = (50.0, 75.0, 95.0, 99.0, 99.9)
_FIRST_YEAR_MS, _LAST_YEAR_MS = -62_135_596_800_000, 253_402_300_799_999

LEFT_OUT = "Batches, codecs and compression are known to the store alone: --data tells them"


class TopicFigures:
    """Of a partition no more is kept than is told, and what the whole topic adds up to."""

    def __init__(self, partitions: int, of_store: bool) -> None:
        self.whole = Figures()
        self._of_store = of_store
        self.partitions = [_partition(n, Figures(), of_store) for n in range(partitions)]

    def add(self, number: int, figures: Figures) -> None:
        self.whole.merge(figures)
        if number < len(self.partitions):
            self.partitions[number] = _partition(number, figures, self._of_store)


class Found(NamedTuple):
    topics: dict[str, TopicFigures]
    keys_of_partitions: dict[tuple[str, int], KeysOfPartition]
    keys_of_topics: dict[str, KeysOfTopic]


def result_of(
    found: Found, where: str, of_store: bool, disk: int | None, now_ms: int
) -> dict[str, Any]:
    newest = (topic.whole.newest_ms for topic in found.topics.values())
    end_ms = forecast.end_of(newest, now_ms)
    topics = [_topic(name, found, of_store, end_ms) for name in sorted(found.topics)]
    return {
        "source": where,
        "kind": "data folder" if of_store else "broker",
        "at": moment(now_ms),
        "left_out": None if of_store else LEFT_OUT,
        "topics": topics,
        "forecast": _forecast(topics, of_store, disk, end_ms, now_ms),
    }


def _topic(name: str, found: Found, of_store: bool, end_ms: int) -> dict[str, Any]:
    whole, partitions = found.topics[name].whole, found.topics[name].partitions
    keys_of = found.keys_of_topics.get(name, KeysOfTopic())
    left = [
        found.keys_of_partitions.get((name, each["partition"]), KeysOfPartition())
        for each in partitions
    ]
    rate = forecast.rate_of(whole.last_day, whole.oldest_ms, end_ms, of_store)
    return {
        "topic": name,
        **_counts(whole),
        "record_sizes": _sizes(whole),
        "skew": {of: _skew([each[of] for each in partitions]) for of in ("records", "bytes")},
        "keys": {"distinct": keys_of.distinct, "scattered": keys_of.scattered},
        "hot_keys": [
            {**each, "share": _share(each["records"], whole.sums["records"])}
            for each in keys_of.hottest
        ],
        "compaction": _compaction(whole, left),
        "batches": _batches(whole) if of_store else None,
        "times": _times(whole),
        "over_time": _over_time(whole),
        "forecast": None if rate is None else _a_day(rate),
        "partitions": [
            {**each, "keys": keys_of.distinct}
            for each, keys_of in zip(partitions, left, strict=True)
        ],
        "problems": whole.problems,
    }


def _compaction(whole: Figures, left: list[KeysOfPartition]) -> dict[str, Any]:
    """If it went up to the end: a record is left where no newer one has its key."""
    records, size = sum(each.distinct for each in left), sum(each.left_bytes for each in left)
    return {
        "records": records,
        "share": _share(records, whole.sums["records"]),
        "bytes": size,
        "share_of_bytes": _share(size, whole.bytes),
        "tombstones": sum(each.left_tombstones for each in left),
    }


def _a_day(rate: forecast.Rate) -> dict[str, Any]:
    return {
        "seconds": rate.span_ms / 1000,
        "records_per_day": round(rate.records_per_day),
        **forecast.told(rate.bytes_per_day),
    }


def _partition(number: int, figures: Figures, of_store: bool) -> dict[str, Any]:
    return {
        "partition": number,
        **_counts(figures),
        "batches": _batches(figures) if of_store else None,
        "times": _times(figures),
    }


def _counts(figures: Figures) -> dict[str, Any]:
    sums, records = figures.sums, figures.sums["records"]
    parts = {f"{part}_bytes": sums[f"{part}_bytes"] for part in ("key", "value", "header")}
    return {
        "records": records,
        "bytes": figures.bytes,
        **parts,
        "null_keys": sums["null_keys"],
        "null_key_share": _share(sums["null_keys"], records),
        "tombstones": sums["tombstones"],
        "tombstone_share": _share(sums["tombstones"], records),
        "control_records": sums["control_records"],
        "damaged": sums["damaged"],
    }


def _sizes(figures: Figures) -> dict[str, Any]:
    return {
        **_percentiles(figures.sizes, figures.largest),
        "mean": figures.sizes.mean,
        "histogram": [
            {"from": low, "to": high, "records": count}
            for low, high, count in figures.sizes.by_powers()
        ],
    }


def _times(figures: Figures) -> dict[str, Any]:
    """Of a topic: from record to record of the same partition."""
    sums = figures.sums
    return {
        "oldest": moment(figures.oldest_ms),
        "newest": moment(figures.newest_ms),
        "intervals_ms": _percentiles(figures.intervals, figures.longest_ms),
        "out_of_order": sums["earlier"],
        "out_of_order_share": _share(sums["earlier"], sums["intervals"]),
    }


def _over_time(figures: Figures) -> dict[str, Any]:
    wide = figures.moments.width_ms
    return {
        "seconds": wide / 1000,
        "moments": [
            {"from": moment(number * wide), "ms": number * wide, "records": records, "bytes": size}
            for number, (records, size) in sorted(figures.moments.counts.items())
        ],
    }


def _batches(figures: Figures) -> dict[str, Any]:
    batches = figures.batches
    codecs: list[dict[str, Any]] = [
        {
            "codec": codec,
            "batches": count,
            "records": records,
            "stored_bytes": stored,
            "opened_bytes": opened,
            "ratio": opened / stored if stored else None,
        }
        for codec, (count, records, stored, opened) in sorted(batches.codecs.items())
    ]
    stored, opened = (sum(each[f"{of}_bytes"] for each in codecs) for of in ("stored", "opened"))
    return {
        "batches": sum(each["batches"] for each in codecs),
        "stored_bytes": stored,
        "opened_bytes": opened,
        "ratio": opened / stored if stored else None,
        "stored_of_bytes": _share(stored, figures.bytes),
        "records": _percentiles(batches.records),
        "sizes": _percentiles(batches.sizes),
        "codecs": codecs,
    }


def _forecast(
    topics: list[dict[str, Any]], of_store: bool, disk: int | None, end_ms: int, now_ms: int
) -> dict[str, Any]:
    known = [each["forecast"] for each in topics if each["forecast"]]
    rates = [each["bytes_per_day"] for each in known]
    used = sum(each["batches"]["stored_bytes"] if of_store else each["bytes"] for each in topics)
    told: dict[str, Any] = {
        "of": "batches as they are stored"
        if of_store
        else "records, as if nothing were compressed",
        "day_ends": moment(end_ms),
        "seconds": min((each["seconds"] for each in known), default=None),
        "bytes": used,
        **forecast.told(sum(rates)),
    }
    if disk is not None:
        told["disk_bytes"] = disk
        told["disk_full_on"] = forecast.full_on(disk, used, sum(rates), now_ms)
    return told


def _percentiles(histogram: Histogram, largest: int | None = None) -> dict[str, int]:
    found = histogram.percentiles(_PERCENTILES)
    most = histogram.max if largest is None else largest
    return {**{f"p{at:g}": min(value, most) for at, value in found.items()}, "max": most}


def _skew(counts: list[int]) -> float:
    """The largest partition beside the average: 1 is even."""
    return max(counts) * len(counts) / sum(counts) if sum(counts) else 1.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def moment(at_ms: int | None) -> str | None:
    """Producers may send times that no calendar has: these stay numbers."""
    if at_ms is None:
        return None
    if not _FIRST_YEAR_MS <= at_ms <= _LAST_YEAR_MS:
        return f"{at_ms} ms"
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
