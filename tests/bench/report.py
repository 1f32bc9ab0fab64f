"""Markdown out of the JSON of a run:

python -m tests.bench.report FILE.json                              prints it
python -m tests.bench.report FILE.json --write docs/performance.md  replaces the part between marks
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from tests.bench.aims import Aim, memory, outcomes
from tests.bench.gauges import Figures
from tests.bench.limits import LABELS
from tests.bench.runs import medians

BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"

_RAW = {
    "requests_per_s": "requests/s",
    "mb_per_s": "MB/s",
    "p50_us": "p50 us",
    "p99_us": "p99 us",
    "cpu_us_per_request": "broker CPU us/request",
}
_CLIENT = {"mb_per_s": "MB/s", "cpu_s_per_gb": "broker CPU s/GB", "context_switches": "switches"}
#: Of each part: its heading, and the figures that are shown.
_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "produce": ("Produce over raw sockets, acks=all, records of 1 KB", _RAW),
    "fsync": ("The same with an fsync before each answer", _RAW),
    "fetch": ("Fetch over raw sockets, one connection", {**_RAW, "cpu_s_per_gb": "CPU s/GB"}),
    "java": ("The Java client", _CLIENT),
    "librdkafka": ("librdkafka", {**_CLIENT, "client_cores": "cores the client used"}),
    "end-to-end": (
        "End to end: 100 B, from before the send until a consumer has it",
        {"mean_us": "mean us", "p50_us": "p50 us", "p99_us": "p99 us", "p999_us": "p99.9 us"},
    ),
    "stall": (
        "Stalls: a small request a thousand times a second, beside a load",
        {
            "ping_p50_us": "p50 us",
            "ping_p99_us": "p99 us",
            "ping_max_us": "longest us",
            "mb_per_s": "the load's MB/s",
        },
    ),
    "startup": (
        "Start, from the process to the first answer",
        {"ready_ms": "answers after ms", "recovered_s": "all offsets right after s"},
    ),
    "memory": ("Memory that is the process's own (RssAnon)", {"rss_anon_mb": "MB"}),
}


def markdown(run: dict[str, Any]) -> str:
    measured = medians(run["runs"])
    if kept := {load: brokers for load, brokers in memory(run["runs"]).items() if brokers}:
        measured["memory"] = kept
    sections = [_about(run), _aims(run)]
    sections += [
        f"### {heading}\n\n{_table(measured[part], columns)}"
        for part, (heading, columns) in _TABLES.items()
        if part in measured
    ]
    if run["limits"]:
        rows = [f"| {label} | {_number(run['limits'][key])} |" for key, label in LABELS.items()]
        sections.append("### The machine alone\n\n" + _lines("| what | figure |", rows))
    if run["micro"]:
        rows = [f"| {piece} | {us:,.2f} |" for piece, us in run["micro"].items()]
        sections.append("### Pieces, without sockets\n\n" + _lines("| piece | us |", rows))
    return "\n\n".join(section for section in sections if section)


def _about(run: dict[str, Any]) -> str:
    machine = run["machine"]
    peer = f"Apache Kafka {run['kafka']}" if run["kafka"] else "nothing to compare with"
    lines = [
        f"`{run['command']}` on {run['date']}, {run['minutes']} minutes, revision"
        f" {run['revision']}; beside it: {peer}. {run['rounds']} round(s); medians, shown as Ottla"
        " / Kafka (ratio).",
        "",
        f"- machine: {machine['cpus']} x {machine['cpu']}, {machine['memory_gb']} GB,"
        f" {machine['system']}; load before the run: {run['load_before'][0]}",
        f"- versions: Python {machine['python']}, uvloop {machine['uvloop']}, lmdb"
        f" {machine['lmdb']}, confluent-kafka {machine['confluent-kafka']}; {machine['java']};"
        f" {machine['go']}",
    ]
    if doubts := _doubts(run):
        lines[:0] = [f"**{doubts}**", ""]
    if noise := _noise(run["runs"]):
        lines.append(f"- noise: {noise}")
    lines += [f"- not measured: {part}: {why}" for part, why in run["skipped"].items()]
    lines += [
        f"- **failed**: {row['part']}, {row['load']}, {row['broker']}:"
        f" {row['failed'].splitlines()[0][:200]}"
        for row in run["runs"]
        if "failed" in row
    ]
    return "\n".join(lines)


def _doubts(run: dict[str, Any]) -> str:
    """Why the figures are no better than a first look."""
    found = []
    if run["rounds"] < 3:
        found.append("A short run: rough figures, to be replaced.")
    if run["load_before"][0] > run["machine"]["cpus"] / 2:
        found.append("The machine had other work meanwhile.")
    return " ".join(found)


def _noise(rows: list[dict[str, Any]]) -> str | None:
    """How far the runs of one load and broker lie apart, in the middle of all loads."""
    rates: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        figures = row.get("figures", {})
        rate = figures.get("mb_per_s", figures.get("p50_us"))
        if rate is not None:
            rates.setdefault((row["part"], row["load"], row["broker"]), []).append(rate)
    spread = [
        (max(runs) - min(runs)) / statistics.median(runs)
        for runs in rates.values()
        if len(runs) > 1
    ]
    if not spread:
        return "unknown, with one round"
    return (
        f"the runs of a load spread over {statistics.median(spread):.0%} of their median in the"
        f" middle of all loads, {max(spread):.0%} at the worst"
    )


def _aims(run: dict[str, Any]) -> str:
    if not run["kafka"]:
        return ""
    rows = []
    for outcome in outcomes(run["runs"]):
        if isinstance(outcome, Aim):
            rows.append(f"| {outcome.title} | {outcome.text} | - | - | - | not measured |")
            continue
        ratio = "-" if outcome.ratio is None else f"{outcome.ratio:.2f}x"
        met = {True: "met", False: "**missed**", None: "-"}[outcome.met]
        rows.append(
            f"| {outcome.aim.title} | {outcome.aim.text} | {_number(outcome.ottla)}"
            f" | {_number(outcome.kafka)} | {ratio} | {met} |"
        )
    return "### Aims\n\n" + _lines("| figure | aim | Ottla | Kafka | ratio | |", rows)


def _table(loads: dict[str, dict[str, Figures]], columns: dict[str, str]) -> str:
    rows = []
    for load, brokers in loads.items():
        by_family = {broker.split()[0]: figures for broker, figures in brokers.items()}
        cells = [_cell(by_family, key) for key in columns]
        rows.append(f"| {load} | " + " | ".join(cells) + " |")
    return _lines("| load | " + " | ".join(columns.values()) + " |", rows)


def _cell(brokers: dict[str, Figures], key: str) -> str:
    ottla, kafka = (brokers.get(name, {}).get(key) for name in ("ottla", "kafka"))
    if ottla is None and kafka is None:
        return "-"
    if kafka is None:
        return _number(ottla)
    ratio = f" ({ottla / kafka:.2f}x)" if ottla is not None and kafka else ""
    return f"{_number(ottla)} / {_number(kafka)}{ratio}"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _lines(header: str, rows: list[str]) -> str:
    columns = header.count("|") - 1
    return "\n".join([header, "| --- |" + " ---: |" * (columns - 1), *rows])


def replace(page: str, text: str, part: str = "bench") -> str:
    """The page with the part between two marks replaced."""
    before, begin, rest = page.partition(BEGIN.format(part))
    _old, end, after = rest.partition(END.format(part))
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN.format(part)} ... {END.format(part)}")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    text = markdown(json.loads(options.file.read_text()))
    if options.write:
        options.write.write_text(replace(options.write.read_text("utf-8"), text), "utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
