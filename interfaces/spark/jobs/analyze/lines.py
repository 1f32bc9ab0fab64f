"""The result of an analysis as lines for a terminal."""

from __future__ import annotations

from typing import Any

_HOTTEST = 5
_PARTITIONS = 8


def lines(result: dict[str, Any]) -> list[str]:
    topics = [line for topic in result["topics"] for line in [*_topic(topic), ""]]
    if result["left_out"]:
        topics += [f"{result['left_out']}.", ""]
    return topics + _forecast(result["forecast"])


def _topic(topic: dict[str, Any]) -> list[str]:
    partitions = topic["partitions"]
    head = (
        f"{topic['topic']}: {counted(topic['records'], 'record')} in "
        f"{counted(len(partitions), 'partition')}, {size(topic['bytes'])}"
    )
    damaged = [
        f"  damaged     {counted(topic['damaged'], 'batch', 'es')} not readable; {problem}"
        for problem in topic["problems"][:1]
    ]
    if not topic["records"]:
        return [head, *damaged]
    sizes, keys, left = topic["record_sizes"], topic["keys"], topic["compaction"]
    times = topic["times"]
    between = times["intervals_ms"]
    found = [
        head,
        f"  bytes       keys {size(topic['key_bytes'])}, values {size(topic['value_bytes'])}, "
        f"headers {size(topic['header_bytes'])}",
        f"  a record    p50 {size(sizes['p50'])}, p99 {size(sizes['p99'])}, "
        f"largest {size(sizes['max'])}",
        f"  keys        {keys['distinct']:,} of them; no key {share(topic['null_key_share'])}, "
        f"tombstones {share(topic['tombstone_share'])}"
        + (f"; {keys['scattered']:,} in several partitions" if keys["scattered"] else ""),
        f"  compaction  would leave {left['records']:,} records, {share(left['share'])}, "
        f"{size(left['bytes'])}",
        *_batches(topic["batches"]),
        f"  times       {times['oldest']} to {times['newest']}; between two records "
        f"p50 {between['p50']:,} ms, p99 {between['p99']:,} ms; "
        f"out of order {share(times['out_of_order_share'])}",
        *damaged,
        *_a_day(topic["forecast"]),
        f"  skew        the largest partition has {topic['skew']['records']:.2f} times the "
        f"average of records, {topic['skew']['bytes']:.2f} times of bytes",
    ]
    found += [
        f"    {each['partition']:>5}: {each['records']:>12,} records {size(each['bytes']):>10}"
        for each in partitions[:_PARTITIONS]
    ]
    if len(partitions) > _PARTITIONS:
        found.append(f"    and {len(partitions) - _PARTITIONS} more")
    if topic["hot_keys"]:
        found.append("  hot keys")
    return found + [
        f"    {share(each['share']):>6}  {each['records']:>12,} records  {each['key']}"
        for each in topic["hot_keys"][:_HOTTEST]
    ]


def _batches(batches: dict[str, Any] | None) -> list[str]:
    if batches is None:
        return []
    codecs = ", ".join(
        f"{each['codec']} {each['ratio']:.2f}:1 ({each['batches']:,})"
        for each in batches["codecs"]
        if each["ratio"]
    )
    return [
        f"  batches     {batches['batches']:,}, {size(batches['stored_bytes'])} stored, "
        f"p50 {counted(batches['records']['p50'], 'record')}, {size(batches['sizes']['p50'])}; "
        f"{codecs}"
    ]


def _a_day(forecast: dict[str, Any] | None) -> list[str]:
    if forecast is None:
        return []
    since = reckoned_from(forecast["seconds"])
    a_day = f"{forecast['records_per_day']:,} records, {size(forecast['bytes_per_day'])}"
    return [f"  a day       {a_day}{f', {since}' if since else ''}"]


def reckoned_from(seconds: float | None) -> str:
    """Of less than a day; empty otherwise."""
    if seconds is None or seconds >= 86_400:
        return ""
    name, length = ("hour", 3_600) if seconds >= 3_600 else ("minute", 60)
    return f"reckoned from {counted(int(seconds // length), name)}"


def _forecast(forecast: dict[str, Any]) -> list[str]:
    needs = ", ".join(f"{days(name)} {size(need)}" for name, need in forecast["bytes_kept"].items())
    found = [
        f"All topics: {size(forecast['bytes'])} ({forecast['of']}). "
        f"{size(forecast['bytes_per_day'])} on the last day; at that rate retention needs: {needs}",
    ]
    if since := reckoned_from(forecast["seconds"]):
        found.append(f"That is {since}, for the youngest topic")
    if "disk_bytes" in forecast:
        when = forecast["disk_full_on"]
        full = f"is full on {when}" if when else "is not full within ten years"
        found.append(f"A disk of {size(forecast['disk_bytes'])} {full}, if nothing is deleted")
    return found


def days(name: str) -> str:
    """Of `1_days` in a result."""
    return counted(int(name.partition("_")[0]), "day")


def counted(number: int, what: str, plural: str = "s") -> str:
    return f"{number:,} {what}{'' if number == 1 else plural}"


def share(part: float) -> str:
    return f"{part * 100:.3g} %"


def size(number: float) -> str:
    for unit, letter in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{number / unit:,.1f} {letter}"
    return f"{number:,.0f} B"
