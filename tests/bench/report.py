"""Writes the JSON of a run as Markdown:

scripts/bench report [FILE]                  prints it
scripts/bench report [FILE] --write [PAGE]   replaces the part of PAGE between marks
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from tests.bench.aims import LMDB, Aim, memory, outcomes
from tests.bench.gauges import Figures
from tests.bench.number import shown
from tests.bench.runs import medians
from tests.tool import Arguments

#: The page for the results, if none is named.
PAGE = Path("docs/internals/performance.md")
BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"

_RAW = {
    "requests_per_s": "requests/s",
    "mb_per_s": "MB/s",
    "p50_us": "p50 us",
    "p99_us": "p99 us",
    "cpu_us_per_request": "broker CPU us/request",
}
_REQUESTS = {key: title for key, title in _RAW.items() if key != "mb_per_s"}
_TRANSACTIONS = {
    "requests_per_s": "transactions/s",
    "p50_us": "p50 us of the end",
    "p99_us": "p99 us",
    "cpu_us_per_request": "broker CPU us/transaction",
}
_CLIENT = {"mb_per_s": "MB/s", "cpu_s_per_gb": "broker CPU s/GB", "context_switches": "switches"}
#: For each part: its heading, and the figures in the table.
_TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "produce": ("Produce over raw sockets, acks=all, records of 1 KB", _RAW),
    "fsync": ("The same with an fsync before each response", _RAW),
    "fetch": ("Fetch over raw sockets, one connection", {**_RAW, "cpu_s_per_gb": "CPU s/GB"}),
    "java": ("The Java client", {**_CLIENT, "rebalance_ms": "has partitions after ms"}),
    "librdkafka": ("librdkafka", {**_CLIENT, "client_cores": "cores the client used"}),
    "groups": (
        "Groups: until all members are stable, with a heartbeat every 100 ms",
        {
            "formed_ms": "all at once, ms",
            "joined_ms": "one joins, ms",
            "left_ms": "one leaves, ms",
        },
    ),
    "offsets": ("Committed offsets, six partitions a request", _REQUESTS),
    "offsets-fsync": ("The same with an fsync before each response to a commit", _REQUESTS),
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
            "mb_per_s": "load MB/s",
        },
    ),
    "transactions": (
        "Transactions over raw sockets: one batch in one partition, records of 1 KB",
        {**_TRANSACTIONS, "mb_per_s": "MB/s", "committed_share": "read_committed / uncommitted"},
    ),
    "quotas": (
        "Others beside a greedy librdkafka producer: what they keep of their rate",
        {
            "requests_per_s": "alone/s",
            "kept_share": "kept, its quota is 1 MB/s",
            "kept_without_quota_share": "kept, without a quota",
        },
    ),
    "tls": (
        "Over TLS; handshakes and logins are of a connection each",
        {
            **_RAW,
            "cpu_s_per_gb": "CPU s/GB",
            "ping_p99_us": "p99 us of pings",
            "ping_max_us": "longest us",
        },
    ),
    "raw": (
        "The raw stream beside Produce and Fetch of the same broker; a request is a record, or a "
        "response",
        {**_RAW, "cpu_s_per_gb": "CPU s/GB"},
    ),
    "transactions-fsync": ("The same with an fsync before each response", _TRANSACTIONS),
    "engines": ("Storage engines", {**_RAW, "cpu_s_per_gb": "CPU s/GB"}),
    "engines-fsync": ("The same, with an fsync before each response", _REQUESTS),
    "engines-cold": (
        "The same, beside a reader of an old log",
        {**_REQUESTS, "max_us": "longest us", "read_mb_per_s": "reader MB/s"},
    ),
    "engines-start": (
        "The same, start after SIGKILL",
        {"ready_ms": "responds after ms", "recovered_s": "all offsets right after s"},
    ),
    "engines-postgresql": (
        "A store in PostgreSQL on the same machine, with an fsync before each response",
        {**_RAW, "cpu_s_per_gb": "CPU s/GB"},
    ),
    "engines-replicated": (
        "A store in PostgreSQL, with an fsync before each response (of a synchronous standby, too),"
        " beside three nodes of Kafka without",
        {**_RAW, "whole_cpu_us_per_request": "CPU us/request, all processes"},
    ),
    "failover": (
        "Three brokers: the leader of 1,000 partitions ends, and is elected again",
        {
            "moved": "partitions moved",
            "led_ms": "all have leaders after ms",
            "served_ms": "all are served after ms",
        },
    ),
    "cold": (
        "Produce beside a reader of an old log",
        {**_REQUESTS, "max_us": "longest us", "read_mb_per_s": "reader MB/s"},
    ),
    "retention": (
        "Produce while a large log is removed, and the file of a topic with `retention.bytes`",
        {
            **_REQUESTS,
            "max_us": "longest us",
            "file_after_2": "file / retained, after 2 times that",
            "file_after_10": "after 10 times that",
        },
    ),
    "soak": (
        "A soak: many times the retained bytes, and updates of 100,000 keys",
        {
            "mb_per_s": "MB/s",
            "slowest_share": "slowest tenth / median",
            "ping_p99_us": "p99 us of small produce requests",
            "ping_max_us": "longest us",
            "log_mb": "log MB",
            "grown_mb": "file grown MB",
            "broker_cpu_s": "broker CPU s",
            "cleaning_cpu_s_per_gb": "of compaction, s/GB",
        },
    ),
    "startup": (
        "Start, from the process to the first response",
        {"ready_ms": "responds after ms", "recovered_s": "all offsets right after s"},
    ),
    "memory": ("Own memory (RssAnon)", {"rss_anon_mb": "MB"}),
}


def markdown(run: dict[str, Any]) -> str:
    measured = medians(run["runs"])
    used = {load: brokers for load, brokers in memory(run["runs"]).items() if brokers}
    if used and not run["kafka"]:  # else the table of aims has it
        measured["memory"] = used
    sections = [_about(run), _aims(run)]
    sections += [
        f"### {heading}\n\n{_table(measured[part], columns)}"
        for part, (heading, columns) in _TABLES.items()
        if part in measured
    ]
    return "\n\n".join(section for section in sections if section)


def _about(run: dict[str, Any]) -> str:
    machine = run["machine"]
    peer = f"Apache Kafka {run['kafka']}" if run["kafka"] else "no other broker"
    pairs = ", shown as Ottla / Kafka (ratio)" if run["kafka"] else ""
    lines = [
        f"`{run['command']}` on {run['date']}, {run['minutes']} minutes, revision"
        f" {run['revision']}; beside it: {peer}. {run['rounds']} round(s); medians{pairs}.",
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
    """Returns reasons to distrust the figures."""
    found = []
    if run["rounds"] < 3:
        found.append("A short run: rough figures, to be replaced.")
    if run["load_before"][0] > run["machine"]["cpus"] / 2:
        found.append("The machine had other work meanwhile.")
    return " ".join(found)


def _noise(rows: list[dict[str, Any]]) -> str | None:
    """Returns the spread of the runs of a load, as the median over all loads."""
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
        ours, theirs = (_with_unit(one, outcome.aim) for one in (outcome.ottla, outcome.beside))
        theirs += " (LMDB)" if outcome.aim.beside == LMDB else ""
        ratio = "-" if outcome.ratio is None else f"{outcome.ratio:.2f}x"
        met = {True: "met", False: "**missed**", None: "-"}[outcome.met]
        rows.append(
            f"| {outcome.aim.title} | {outcome.aim.text} | {ours} | {theirs} | {ratio} | {met} |"
        )
    return "### Aims\n\n" + _lines("| figure | aim | Ottla | Kafka | ratio | |", rows)


def _table(loads: dict[str, dict[str, Figures]], columns: dict[str, str]) -> str:
    rows = []
    for load, brokers in loads.items():
        by_family = {broker.split()[0]: figures for broker, figures in brokers.items()}
        kafka = by_family.pop("kafka", {})
        for number, (family, figures) in enumerate(by_family.items()):
            cells = [_cell({"ottla": figures, "kafka": kafka}, key) for key in columns]
            name = f"... {family}" if number else load if family == "ottla" else f"{load}, {family}"
            rows.append(f"| {name} | " + " | ".join(cells) + " |")
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
    return "-" if value is None else shown(value)


def _with_unit(value: float | None, aim: Aim) -> str:
    return "-" if value is None else f"{shown(value)} {aim.unit}"


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


def marked(page: Path, part: str = "bench") -> str:
    """The text of a writable page; called before the measurement."""
    if not page.is_file():
        raise SystemExit(f"bench: there is no {page}")
    if not os.access(page, os.W_OK):
        raise SystemExit(f"bench: {page} cannot be written")
    text = page.read_text("utf-8")
    try:
        replace(text, "", part)
    except ValueError:
        raise SystemExit(f"bench: {page} has no {BEGIN.format(part)} and its end") from None
    return text


def lacks(run: dict[str, Any], parts: list[str]) -> bool:
    """Returns True if the page has parts that this run did not measure."""
    return not run["kafka"] or not set(parts) <= set(_measured(run, parts))


def _measured(run: dict[str, Any], parts: list[str]) -> list[str]:
    found = {row["part"] for row in run["runs"] if "figures" in row}
    found |= {part for part in ("limits", "micro") if run[part]}
    return [part for part in parts if part in found]


def main(arguments: list[str], latest: Path, parts: list[str]) -> None:
    parser = Arguments(
        prog="scripts/bench report",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("file", nargs="?", type=Path, default=latest, metavar="FILE")
    parser.add_argument("--write", nargs="?", const=PAGE, type=Path, metavar="PAGE")
    options = parser.parse_args(arguments)
    if not options.file.is_file():
        raise SystemExit(f"bench: there is no {options.file}; scripts/bench makes one")
    try:
        run = json.loads(options.file.read_text())
        text = markdown(run)
    except (KeyError, TypeError, ValueError):
        raise SystemExit(f"bench: {options.file} is no result of scripts/bench") from None
    if options.write is None:
        print(text)
        return
    page = marked(options.write)
    if lacks(run, parts):
        only = f"the parts {', '.join(_measured(run, parts))}"
        only += "" if run["kafka"] else ", without Kafka"
        raise SystemExit(
            f"bench: the run in {options.file} has only {only};"
            f" {options.write} wants all, with --kafka"
        )
    if run["revision"].endswith("-dirty"):
        print(f"bench: the run is of a changed tree, {run['revision']}", file=sys.stderr)
    options.write.write_text(replace(page, text), "utf-8")
