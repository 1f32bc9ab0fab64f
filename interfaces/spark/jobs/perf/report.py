"""The result for people: lines, and a page with plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interfaces.spark.jobs.perf.comparing import Compared
from interfaces.spark.reports import plots
from interfaces.spark.reports.page import facts, note, page, section, table

_ENDINGS = ("Avg", "50pct", "75pct", "95pct", "99pct", "999pct", "9999pct", "Max")
_HEAD = ("ms", "mean", "p50", "p75", "p95", "p99", "p99.9", "p99.99", "longest")
#: The name in the result, and that on the page.
_LATENCIES = (
    ("aggregatedPublishLatency", "publish"),
    ("aggregatedEndToEndLatency", "end to end"),
)
#: In microseconds: how much later than its due time a record was handed to the client.
_DELAY = "aggregatedPublishDelayLatency"


def lines(result: Mapping[str, Any], compared: Sequence[Compared]) -> list[str]:
    shown = [
        result["workload"],
        f"published {_rate(result, 'Publish')}; consumed {_rate(result, 'Consume')}",
        f"the generator alone: {result['generatorCeiling']['recordsPerSecond']:,.0f} records/s",
        "",
        f"{_HEAD[0]:12}" + "".join(f"{name:>10}" for name in _HEAD[1:]),
    ]
    for key, name in _LATENCIES:
        shown.append(_row(name, [result[f"{key}{each}"] for each in _ENDINGS]))
    if result["settings"]["producerRate"]:
        shown.append(_row("behind rate", [result[f"{_DELAY}{each}"] / 1000 for each in _ENDINGS]))
    shown += ["", verdict(result["verification"])]
    if compared:
        shown += ["", f"{'':28}{'before':>14}{'now':>14}", *(each.line() for each in compared)]
    return shown


def _row(name: str, milliseconds: Sequence[float]) -> str:
    each = (f"{ms:,.3f}" if ms < 1_000 else f"{ms:,.0f}" for ms in milliseconds)
    return f"{name:12}" + "".join(f"{figure:>10}" for figure in each)


def verdict(checked: Mapping[str, Any]) -> str:
    wrong = {
        name: checked[name] for name in ("lost", "doubled", "disordered", "spoiled", "foreign")
    }
    found = ", ".join(f"{count:,} {name}" for name, count in wrong.items())
    if checked["right"] is None:
        return f"{checked['sent']:,} sent, none read: not verified"
    return (
        f"{checked['sent']:,} sent, {checked['expected']:,} expected, {checked['received']:,} "
        f"received: {found}" + (f", {checked['unknown']:,} unknown" if checked["unknown"] else "")
    )


def report(result: Mapping[str, Any], compared: Sequence[Compared]) -> str:
    ceiling = result["generatorCeiling"]
    shown = {
        "published": _rate(result, "Publish"),
        "consumed": _rate(result, "Consume"),
        "the generator alone": f"{ceiling['recordsPerSecond']:,.0f} records/s, "
        f"{ceiling['MBps']:,.1f} MB/s ({ceiling['what']})",
        "verification": verdict(result["verification"]),
    }
    parts = [
        facts(shown),
        section("Rates", plots.lines("Rates", _over_time(result, _RATES), "s", "records/s")),
        section(
            "Latency",
            plots.tail(
                "Latency by percentile", [(n, _curve(result, key)) for key, n in _LATENCIES], "ms"
            ),
            table(_HEAD, [[n, *(result[f"{key}{e}"] for e in _ENDINGS)] for key, n in _LATENCIES]),
            plots.lines("Latency over time", _over_time(result, _P99), "s", "ms"),
        ),
        section("Backlog", plots.lines("Backlog", _over_time(result, _BACKLOG), "s", "records")),
        _skew(result["recordsPerPartition"]["published"]),
    ]
    if result["settings"]["producerRate"]:
        row = ["behind rate", *(result[f"{_DELAY}{e}"] / 1000 for e in _ENDINGS)]
        parts.append(
            section(
                "Behind the rate",
                note("How much later than its due time a record was handed to the client."),
                table(_HEAD, [row]),
            )
        )
    if compared:
        rows = [
            [each.name, each.before, each.now, _percent(each.worse_by), each.is_worse]
            for each in compared
        ]
        parts.append(
            section("Beside another run", table(("", "before", "now", "worse by", "worse"), rows))
        )
    settings = {name: _in_words(value) for name, value in result["settings"].items()}
    parts += [section("Workload", facts(settings)), section("This run", facts(result["about"]))]
    return page(f"Throughput: {result['workload']}", parts)


_RATES = (("published", "publishRate"), ("consumed", "consumeRate"))
_P99 = (("publish p99", "publishLatency99pct"), ("end to end p99", "endToEndLatency99pct"))
_BACKLOG = (("waiting", "backlog"),)


def _over_time(
    result: Mapping[str, Any], columns: Sequence[tuple[str, str]]
) -> list[tuple[str, list[tuple[float, float]]]]:
    each = result["sampleRateMillis"] / 1000
    return [
        (name, [((number + 1) * each, value) for number, value in enumerate(result[key])])
        for name, key in columns
    ]


def _curve(result: Mapping[str, Any], key: str) -> list[tuple[float, float]]:
    return [(float(share), value) for share, value in result[f"{key}Quantiles"].items()]


def _rate(result: Mapping[str, Any], what: str) -> str:
    megabytes = result[f"{what.lower()}MBps"]
    return f"{result[f'mean{what}Rate']:,.0f} records/s, {megabytes:,.1f} MB/s"


def _skew(partitions: Mapping[str, int]) -> str:
    places = [
        (topic, int(number), count)
        for (topic, _, number), count in (
            (place.rpartition("-"), count) for place, count in partitions.items()
        )
    ]
    counts = list(partitions.values())
    mean = sum(counts) / len(counts) if counts else 0
    most = max(counts, default=0) / mean if mean else 0.0
    return section(
        "Partitions",
        note(f"The fullest partition got {most:.2f} times the mean."),
        plots.partitions("Records of each partition", places, "records"),
    )


def _percent(part: float) -> str:
    return f"{round(part * 100, 1) + 0.0:+.1f} %"  # and no -0.0


def _in_words(value: object) -> object:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={each}" for name, each in value.items()) or "-"
    return value
