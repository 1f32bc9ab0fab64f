"""The Grafana dashboard: a table of panels, and its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from application.metrics.families import jmx, own, process
from application.metrics.families import kafka_exporter as exporter
from application.metrics.families.family import Family
from interfaces.cli.generate_lag import group_lag

#: Grafana's grid is 24 wide.
WIDTH = 24
PANEL_HEIGHT, STAT_HEIGHT = 8, 4
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_INSTANCE = 'instance=~"$instance"'
_LAG = group_lag(f"{{{_INSTANCE}}}")


def _of(family: Family, more: str = "") -> str:
    return f"{family.name}{{{_INSTANCE}{', ' + more if more else ''}}}"


def _rate(family: Family, part: str = "", more: str = "") -> str:
    return (
        f"rate({family.name}{part}{{{_INSTANCE}{', ' + more if more else ''}}}[$__rate_interval])"
    )


def _quantile(quantile: float, family: Family, by: str = "", more: str = "") -> str:
    together = f"le, {by}" if by else "le"
    buckets = _rate(family, "_bucket", more)
    return f"histogram_quantile({quantile}, sum by ({together}) ({buckets}))"


def _mean(family: Family, by: str, more: str = "") -> str:
    total, count = _rate(family, "_sum", more), _rate(family, "_count", more)
    return f"sum by ({by}) ({total}) / sum by ({by}) ({count})"


@dataclass(frozen=True)
class Panel:
    title: str
    unit: str
    #: Queries with the legends of their lines.
    queries: tuple[tuple[str, str], ...]
    width: int = 8
    #: One number instead of a graph.
    is_stat: bool = False
    stacked: bool = False


def _stat(title: str, unit: str, query: str) -> Panel:
    return Panel(title, unit, ((query, ""),), width=4, is_stat=True)


ROWS: dict[str, tuple[Panel, ...]] = {
    "Overview": (
        _stat("Up since", "s", _of(own.UPTIME)),
        _stat("Connections", "short", f"sum({_of(own.CONNECTIONS)})"),
        _stat("Topics", "short", _of(own.TOPICS)),
        _stat("Partitions", "short", _of(jmx.PARTITION_COUNT)),
        _stat("Unreadable partitions", "short", _of(jmx.OFFLINE_PARTITIONS)),
        _stat("Consumer lag", "short", f"sum({_LAG})"),
    ),
    "Traffic": (
        Panel(
            "Records in, by topic",
            "cps",
            ((f"sum by (topic) ({_rate(jmx.MESSAGES_IN)})", "{{topic}}"),),
            stacked=True,
        ),
        Panel(
            "Bytes in, by topic",
            "Bps",
            ((f"sum by (topic) ({_rate(jmx.BYTES_IN)})", "{{topic}}"),),
            stacked=True,
        ),
        Panel(
            "Bytes out, by topic",
            "Bps",
            ((f"sum by (topic) ({_rate(jmx.BYTES_OUT)})", "{{topic}}"),),
            stacked=True,
        ),
        Panel(
            "Requests",
            "reqps",
            ((f"sum by (request) ({_rate(jmx.REQUESTS)})", "{{request}}"),),
            stacked=True,
        ),
        Panel(
            "Responses with an error",
            "reqps",
            (
                (
                    f"sum by (request, error) ({_rate(jmx.REQUEST_ERRORS)})",
                    "{{request}} {{error}}",
                ),
            ),
        ),
        Panel(
            "Purgatories",
            "short",
            (
                (_of(own.WAITING_FETCHES), "fetches"),
                (_of(own.WAITING_JOINS), "joins"),
                (_of(own.PENDING_OFFSET_COMMITS), "offset commits"),
            ),
        ),
    ),
    "Latency": (
        Panel(
            "Requests, 99th percentile (waiting fetches included)",
            "s",
            ((_quantile(0.99, own.REQUEST_TIME, "api"), "{{api}}"),),
            width=12,
        ),
        Panel(
            "Stages of a produce request, mean",
            "s",
            ((_mean(own.STAGE_TIME, "stage", 'api="Produce"'), "{{stage}}"),),
            width=12,
            stacked=True,
        ),
        Panel(
            "Commits of the store",
            "s",
            (
                (_quantile(0.5, own.COMMIT_TIME), "median"),
                (_quantile(0.99, own.COMMIT_TIME), "99th percentile"),
            ),
        ),
        Panel(
            "Requests that share a commit, mean",
            "short",
            (
                (
                    f"{_rate(own.COMMIT_WAITERS, '_sum')} / {_rate(own.COMMIT_WAITERS, '_count')}",
                    "",
                ),
            ),
        ),
        Panel("Event loop lag, 99th percentile", "s", ((_quantile(0.99, own.LOOP_LAG), ""),)),
    ),
    "Consumers": (
        Panel(
            "Lag, by group and topic",
            "short",
            ((_LAG, "{{cluster_id}} {{consumergroup}} {{topic}}"),),
            width=12,
        ),
        Panel(
            "Members",
            "short",
            ((f"sum by (consumergroup) ({_of(exporter.GROUP_MEMBERS)})", "{{consumergroup}}"),),
            width=12,
        ),
    ),
    "Store and process": (
        Panel(
            "Store and disk",
            "bytes",
            ((_of(own.STORE_USED), "store"), (_of(own.DISK_FREE), "free on the disk")),
        ),
        Panel("CPU, in cores", "short", ((_rate(process.CPU), ""),)),
        Panel(
            "Memory",
            "bytes",
            (
                (_of(process.PRIVATE), "private"),
                (_of(own.UNREAD), "unread responses"),
                (_of(own.REQUESTS_MEMORY), "large requests"),
            ),
        ),
    ),
}


def dashboard() -> str:
    panels: list[dict[str, Any]] = []
    y = 0
    for title, row in ROWS.items():
        place = {"h": 1, "w": WIDTH, "x": 0, "y": y}
        panels.append({"type": "row", "title": title, "gridPos": place, "panels": []})
        y += 1
        x = height = 0
        for panel in row:
            height = STAT_HEIGHT if panel.is_stat else PANEL_HEIGHT
            if x + panel.width > WIDTH:
                x, y = 0, y + height
            place = {"h": height, "w": panel.width, "x": x, "y": y}
            panels.append(_panel(panel, place))
            x += panel.width
        y += height
    for number, made in enumerate(panels, 1):
        made["id"] = number
    return json.dumps(_board(panels), indent=1)


def _panel(panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    custom = {"fillOpacity": 20, "stacking": {"mode": "normal"}} if panel.stacked else {}
    return {
        "type": "stat" if panel.is_stat else "timeseries",
        "title": panel.title,
        "gridPos": place,
        "datasource": _SOURCE,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "custom": custom},
            "overrides": [],
        },
        "targets": [
            {"refId": chr(ord("A") + n), "datasource": _SOURCE, "expr": query, "legendFormat": name}
            for n, (query, name) in enumerate(panel.queries)
        ],
    }


def _board(panels: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "uid": "ottla",
        "title": "Ottla",
        "tags": ["kafka", "ottla"],
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus"},
                {
                    "name": "instance",
                    "type": "query",
                    "datasource": _SOURCE,
                    "query": f"label_values({own.BUILD.name}, instance)",
                    "includeAll": True,
                    "multi": True,
                    "refresh": 2,
                },
            ]
        },
        "panels": panels,
    }
