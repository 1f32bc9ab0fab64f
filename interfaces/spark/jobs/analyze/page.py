"""The result of an analysis as a page with plots."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from interfaces.spark.jobs.analyze.lines import days, reckoned_from, share, size
from interfaces.spark.reports import page, plots


def page_of(result: dict[str, Any]) -> str:
    topics = result["topics"]
    forecast = result["forecast"]
    shown = {
        result["kind"]: result["source"],
        "at": result["at"],
        "topics": len(topics),
        "records": sum(each["records"] for each in topics),
        f"bytes ({forecast['of']})": size(forecast["bytes"]),
        "a day, as on the last day": " ".join(
            (size(forecast["bytes_per_day"]), reckoned_from(forecast["seconds"]))
        ),
    }
    for name, value in forecast["bytes_kept"].items():
        shown[f"retention of {days(name)}"] = size(value)
    if "disk_bytes" in forecast:
        when = forecast["disk_full_on"] or "not within ten years"
        shown[f"a disk of {size(forecast['disk_bytes'])} is full on"] = when
    head = ("topic", "partitions", "records", "bytes", "keys", "no key", "tombstones", "a day")
    rows = [
        [
            each["topic"],
            len(each["partitions"]),
            each["records"],
            each["bytes"],
            each["keys"]["distinct"],
            share(each["null_key_share"]),
            share(each["tombstone_share"]),
            size(each["forecast"]["bytes_per_day"]) if each["forecast"] else "-",
        ]
        for each in topics
    ]
    return page.page(
        "Topics",
        [
            page.facts(shown),
            *([page.note(f"{result['left_out']}.")] if result["left_out"] else []),
            page.section("Topics", page.table(head, rows)),
            *(_topic(each) for each in topics if each["records"] or each["damaged"]),
        ],
    )


def _topic(topic: dict[str, Any]) -> str:
    name, times, left = topic["topic"], topic["times"], topic["compaction"]
    facts = {
        **{f"bytes of {part}s": topic[f"{part}_bytes"] for part in ("key", "value", "header")},
        "oldest": times["oldest"],
        "newest": times["newest"],
        "out of order": share(times["out_of_order_share"]),
        "keys": topic["keys"]["distinct"],
        "keys in several partitions": topic["keys"]["scattered"],
        "compaction would leave": f"{left['records']:,} records ({share(left['share'])}), "
        f"{size(left['bytes'])}, {left['tombstones']:,} of them tombstones",
        "largest partition, in averages": f"{topic['skew']['records']:.2f} of records, "
        f"{topic['skew']['bytes']:.2f} of bytes",
    }
    if topic["damaged"]:
        facts["damaged batches"] = topic["damaged"]
    of_sizes = topic["record_sizes"]
    sizes = [(size(each["from"]), each["records"]) for each in of_sizes["histogram"]]
    spread = page.table(
        ("", *(each for each in of_sizes if each not in ("histogram", "mean"))),
        [
            ["bytes of a record", *_values(of_sizes)],
            ["ms between records", *_values(times["intervals_ms"])],
            *_of_batches(topic["batches"]),
        ],
    )
    hot = [
        [each["key"], each["records"], share(each["share"]), each["bytes"], each["partitions"]]
        for each in topic["hot_keys"]
    ]
    return page.section(
        name,
        page.facts(facts),
        *(page.note(problem) for problem in topic["problems"]),
        spread,
        page.part("Over time", plots.lines(*_rate(topic["over_time"]))),
        page.part("Sizes of records", plots.bars("Sizes", sizes, "records", "bytes, from")),
        page.part("Partitions", *_partitions(topic["partitions"])),
        *_codecs(topic["batches"]),
        page.part("Hot keys", page.table(("key", "records", "share", "bytes", "partitions"), hot)),
    )


def _values(percentiles: dict[str, Any]) -> list[object]:
    return [value for name, value in percentiles.items() if name not in ("histogram", "mean")]


def _of_batches(batches: dict[str, Any] | None) -> list[list[object]]:
    if batches is None:
        return []
    return [
        ["records of a batch", *_values(batches["records"])],
        ["bytes of a batch, stored", *_values(batches["sizes"])],
    ]


def _rate(
    over_time: dict[str, Any],
) -> tuple[str, list[tuple[str, list[tuple[float, float]]]], str, str]:
    """In minutes, hours or days; the line is at zero where no record is."""
    seconds, moments = over_time["seconds"], over_time["moments"]
    if not moments:
        return "Records", [], "h", "records/s"
    first = moments[0]["ms"]
    hours = (moments[-1]["ms"] - first) / 3_600_000
    unit, unit_ms = ("days", 86_400_000) if hours > 96 else ("hours", 3_600_000)
    if hours < 2:
        unit, unit_ms = "minutes", 60_000
    points = [(each["ms"], each["records"] / seconds) for each in moments]
    drawn = points[:1]
    wide = seconds * 1000
    for (before, _), (at, rate) in pairwise(points):
        if at - before > wide:
            drawn += [(before + wide, 0.0), (at - wide, 0.0)]
        drawn.append((at, rate))
    return (
        "Records over time",
        [("", [((at - first) / unit_ms, rate) for at, rate in drawn])],
        f"{unit} from {moments[0]['from']}",
        "records/s",
    )


def _partitions(partitions: list[dict[str, Any]]) -> list[str]:
    shown = [(str(each["partition"]), each["bytes"]) for each in partitions]
    head = ("partition", "records", "bytes", "keys", "no key", "tombstones", "out of order")
    between = ("p50 ms", "p99 ms", "longest ms")
    rows = [
        [
            str(each["partition"]),
            *(each[name] for name in ("records", "bytes", "keys", "null_keys", "tombstones")),
            share(each["times"]["out_of_order_share"]),
            *(each["times"]["intervals_ms"][name] for name in ("p50", "p99", "max")),
        ]
        for each in partitions
    ]
    return [
        plots.bars("Bytes by partition", shown, "bytes", "partition"),
        page.table((*head, *between), rows),
    ]


def _codecs(batches: dict[str, Any] | None) -> list[str]:
    if batches is None:
        return []
    head = ("codec", "batches", "records", "stored bytes", "opened bytes", "ratio")
    rows = [list(each.values()) for each in batches["codecs"]]
    return [page.part("Compression", page.table(head, rows))]
