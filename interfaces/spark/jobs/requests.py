"""The broker's request log: percentiles by API and client, where time goes, the slowest requests.

Times are the broker's: from the last byte of a request to the last byte of its response. A fetch
waits for records as long as its client allows, and a join for the other members of the group:
`busy` is the time without these waits. A produce request's wait for its commit is in it.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.spark.jobs.hadoop_files import literally
from interfaces.spark.jobs.job import is_local, show_result, spark_of
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.reports import page, plots

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

#: Of a request's life, in order.
STAGES = ("queue", "decode", "handle", "wait", "send")
#: APIs that wait for others; the broker's own log of slow requests leaves the same waits out.
_WAIT_FOR_OTHERS = ("Fetch", "JoinGroup", "SyncGroup")
_COLUMNS = (
    "event string, time string, api string, client_id string, software string, peer string, "
    "correlation_id long, connection_id long, topic string, version int, bytes_in long, "
    "bytes_out long, queue_us long, decode_us long, handle_us long, wait_us long, send_us long, "
    "total_us long, errors array<string>"
)
_PERCENTILES = (0.5, 0.95, 0.99, 0.999)
#: Of the plot over time, at most.
_MOMENTS = 240
#: Clients, and errors, in the result.
_MOST_ROWS = 50


def run(parsed: argparse.Namespace) -> int:
    for log in parsed.logs:
        if is_local(log) and not Path(log).exists():
            raise WrongOption(f"there is no {log}")
    with spark_of(parsed) as spark:
        result = evaluate(spark, parsed.logs, parsed.slowest)
    show_result(parsed, result, _lines(result), lambda: _page(result))
    return 0


def evaluate(spark: SparkSession, logs: list[str], slowest: int) -> dict[str, Any]:
    from pyspark.sql import functions as f

    requests = _requests(spark, logs).cache()
    try:
        whole = requests.agg(
            f.count("*").alias("requests"),
            f.min("at_ms").alias("first"),
            f.max("at_ms").alias("last"),
            f.count_if(f.size("errors") > 0).alias("failed"),
            f.sum("bytes_in").alias("bytes_in"),
            f.sum("bytes_out").alias("bytes_out"),
        ).first()
        assert whole is not None
        if not whole["requests"]:
            raise JobFailed(
                "no request is in the log; the broker writes them with "
                "--log-requests all --log-format json"
            )
        return {
            **{k: v for k, v in whole.asDict().items() if k not in ("first", "last")},
            "from": _moment(whole["first"]),
            "to": _moment(whole["last"]),
            "apis": _figures(requests, "api"),
            "clients": _figures(requests, "client_id", "software")[:_MOST_ROWS],
            "stages": _stages(requests),
            "errors": _errors(requests),
            "over_time": _over_time(requests, whole["first"], whole["last"]),
            "slowest": _slowest(requests, slowest),
        }
    finally:
        requests.unpersist()


def _requests(spark: SparkSession, logs: list[str]) -> DataFrame:
    from pyspark.sql import functions as f

    named = [literally(log) if is_local(log) else log for log in logs]
    parsed = spark.read.text(named).select(f.from_json("value", _COLUMNS).alias("line"))
    requests = parsed.select("line.*").where("event = 'request' and total_us is not null")
    waited = f.when(f.col("api").isin(*_WAIT_FOR_OTHERS), f.col("wait_us")).otherwise(0)
    return requests.withColumn("at_ms", f.unix_millis(f.to_timestamp("time"))).withColumn(
        "busy_us", f.col("total_us") - waited
    )


def _figures(requests: DataFrame, *by: str) -> list[dict[str, Any]]:
    """The busiest first."""
    from pyspark.sql import functions as f

    def percentiles(column: str) -> Any:
        return f.percentile(column, list(_PERCENTILES))

    grouped = requests.groupBy(*by).agg(
        f.count("*").alias("requests"),
        f.count_if(f.size("errors") > 0).alias("failed"),
        f.sum("busy_us").alias("sum_us"),
        percentiles("total_us").alias("total"),
        percentiles("busy_us").alias("busy"),
        f.max("total_us").alias("total_max"),
        f.max("busy_us").alias("busy_max"),
    )
    return [
        {
            **{name: row[name] for name in by},
            "requests": row["requests"],
            "failed": row["failed"],
            "busy_s": row["sum_us"] / 1e6,
            "total_us": _named(row["total"], row["total_max"]),
            "busy_us": _named(row["busy"], row["busy_max"]),
        }
        for row in grouped.orderBy(f.desc("sum_us"), *by).collect()
    ]


def _named(values: list[float], longest: int) -> dict[str, int]:
    named = {f"p{each * 100:g}": round(v) for each, v in zip(_PERCENTILES, values, strict=True)}
    return {**named, "max": longest}


def _stages(requests: DataFrame) -> list[dict[str, Any]]:
    from pyspark.sql import functions as f

    means = [f.avg(f"{stage}_us").alias(f"{stage}_us") for stage in STAGES]
    rows = requests.groupBy("api").agg(*means).orderBy("api").collect()
    return [{k: v if k == "api" else round(v, 1) for k, v in row.asDict().items()} for row in rows]


def _errors(requests: DataFrame) -> list[dict[str, Any]]:
    from pyspark.sql import functions as f

    each = requests.select("api", "client_id", f.explode("errors").alias("error"))
    counted = each.groupBy("api", "error").agg(
        f.count("*").alias("requests"), f.count_distinct("client_id").alias("clients")
    )
    rows = counted.orderBy(f.desc("requests"), "api", "error").limit(_MOST_ROWS).collect()
    return [row.asDict() for row in rows]


def _over_time(requests: DataFrame, first: int, last: int) -> list[dict[str, Any]]:
    from pyspark.sql import functions as f

    wide = max(1000, -(-(last - first) // _MOMENTS))
    moment = f.floor((f.col("at_ms") - first) / wide)
    rows = (
        requests.groupBy(moment.alias("moment"))
        .agg(
            f.count("*").alias("requests"),
            f.percentile("busy_us", [0.5, 0.99]).alias("busy"),
        )
        .collect()
    )
    found = {row["moment"]: row for row in rows}
    return [
        _moment_of(number * wide / 1000, wide / 1000, found.get(number))
        for number in range((last - first) // wide + 1)
    ]


def _moment_of(second: float, seconds: float, row: Row | None) -> dict[str, Any]:
    """Without a request there are no percentiles."""
    p50, p99 = row["busy"] if row else (None, None)
    rate = row["requests"] / seconds if row else 0.0
    return {"second": second, "per_second": rate, "busy_p50_us": p50, "busy_p99_us": p99}


def _slowest(requests: DataFrame, number: int) -> list[dict[str, Any]]:
    """By busy time: a fetch that waited is not slow."""
    from pyspark.sql import functions as f

    names = [
        *("time", "correlation_id", "connection_id", "client_id", "peer", "api", "version"),
        *("topic", "busy_us", "total_us", *(f"{stage}_us" for stage in STAGES), "errors"),
    ]
    rows = requests.orderBy(f.desc("busy_us"), "at_ms").limit(number).select(*names).collect()
    return [row.asDict() for row in rows]


def _moment(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


# ---- for people

_HEAD = ("requests", "failed", "busy s", "p50", "p95", "p99", "p99.9", "longest us")


def _row(figures: dict[str, Any], *by: str) -> list[object]:
    named: list[object] = [figures[name] or "-" for name in by]
    counted = [figures["requests"], figures["failed"], figures["busy_s"]]
    return [*named, *counted, *figures["busy_us"].values()]


def _lines(result: dict[str, Any]) -> list[str]:
    lines = [
        f"{result['requests']:,} requests, {result['failed']:,} failed, "
        f"{result['from']} to {result['to']}",
        "",
        f"{'API':28}{'requests':>10}{'failed':>8}{'p50 us':>9}{'p99 us':>9}{'p99.9 us':>10}",
    ]
    for each in result["apis"]:
        busy = each["busy_us"]
        lines.append(
            f"{each['api']:28}{each['requests']:>10,}{each['failed']:>8,}"
            f"{busy['p50']:>9,}{busy['p99']:>9,}{busy['p99.9']:>10,}"
        )
    if result["errors"]:
        lines += ["", "What failed:"]
    for each in result["errors"][:5]:
        lines.append(f"  {each['requests']:>9,}  {each['api']}: {each['error']}")
    lines += ["", "The slowest, without waits for records or other members:"]
    for each in result["slowest"][:5]:
        lines.append(
            f"  {each['busy_us']:>9,} us  {each['api']}  correlation id {each['correlation_id']} "
            f"of {each['client_id']} at {each['peer']}, {each['time']}"
        )
    return lines


def _page(result: dict[str, Any]) -> str:
    over_time = result["over_time"]
    rate = [(each["second"], each["per_second"]) for each in over_time]
    slow = {
        name: [(e["second"], e[key]) for e in over_time if e[key] is not None]
        for name, key in (("p50", "busy_p50_us"), ("p99", "busy_p99_us"))
    }
    stages = [
        [each["api"], *(each[f"{stage}_us"] for stage in STAGES)] for each in result["stages"]
    ]
    columns = (
        *("time", "correlation_id", "client_id", "api", "busy_us"),
        *(*(f"{stage}_us" for stage in STAGES), "peer", "topic"),
    )
    slowest = [
        [("-" if each[name] is None else each[name]) for name in columns]
        for each in result["slowest"]
    ]
    errors = [list(each.values()) for each in result["errors"]]
    shown = {name: result[name] for name in ("requests", "failed", "from", "to")}
    shown |= {"bytes in": result["bytes_in"], "bytes out": result["bytes_out"]}
    return page.page(
        "Requests",
        [
            page.facts(shown),
            page.note(
                "Times are microseconds in the broker, without the waits of a fetch for records "
                "and of a join for the other members of its group."
            ),
            page.section("Over time", plots.lines("Requests", [("", rate)], "s", "requests/s")),
            page.section("Latency", plots.lines("Latency", list(slow.items()), "s", "us")),
            page.section(
                "By API",
                page.table(("API", *_HEAD), [_row(each, "api") for each in result["apis"]]),
            ),
            page.section(
                "By client",
                page.table(
                    ("client id", "software", *_HEAD),
                    [_row(each, "client_id", "software") for each in result["clients"]],
                ),
            ),
            page.section(
                "Where the time goes",
                page.note("Microseconds of a request, on average."),
                page.table(("API", *STAGES), stages),
            ),
            page.section("Errors", page.table(("API", "error", "requests", "clients"), errors)),
            page.section("The slowest", page.table(columns, slowest)),
        ],
    )
