"""Prometheus: the scrape config and the alert rules."""

from __future__ import annotations

from dataclasses import dataclass

from application.metrics.families import jmx, own, process
from interfaces.cli.generate_lag import group_lag
from interfaces.terminal.addresses import Address


@dataclass(frozen=True)
class Alert:
    name: str
    query: str
    lasting: str
    severity: str
    summary: str


ALERTS = (
    Alert("OttlaDown", 'up{job="ottla"} == 0', "1m", "critical", "{{ $labels.instance }} is down"),
    Alert(
        "OttlaPartitionsUnreadable",
        f"{jmx.OFFLINE_PARTITIONS.name} > 0",
        "1m",
        "critical",
        "{{ $value }} partitions are unreadable, or have no leader",
    ),
    Alert(
        "OttlaCommitsFail",
        f"increase({own.COMMIT_FAILURES.name}[5m]) > 0",
        "0m",
        "critical",
        "produced records cannot be persisted",
    ),
    Alert(
        "OttlaStoreNotReady",
        f"{own.STORE_READY.name} == 0",
        "1m",
        "critical",
        "nothing is persisted: GET /readyz of {{ $labels.instance }} has the reason",
    ),
    Alert(
        "OttlaDiskFillsUp",
        f"predict_linear({own.DISK_FREE.name}[1h], 4 * 3600) < 0",
        "15m",
        "warning",
        "the disk of {{ $labels.instance }} is full in four hours",
    ),
    Alert(
        "OttlaCommitsAreSlow",
        f"histogram_quantile(0.99, sum by (le, instance) (rate({own.COMMIT_TIME.name}_bucket[5m])))"
        " > 0.5",
        "10m",
        "warning",
        "one commit in a hundred takes {{ $value }} seconds",
    ),
    Alert(
        "OttlaLoopIsLate",
        f"histogram_quantile(0.99, sum by (le, instance) (rate({own.LOOP_LAG.name}_bucket[5m])))"
        " > 0.1",
        "10m",
        "warning",
        "the event loop is overloaded, or the disk is slow",
    ),
    Alert(
        "OttlaFilesRunOut",
        f'{process.OPEN_FILES.name}{{job="ottla"}} / {process.MOST_FILES.name} > 0.8',
        "5m",
        "warning",
        "too many open connections and files",
    ),
    Alert(
        "OttlaTransactionHangs",
        f'{jmx.LATE_TRANSACTIONS.name}{{job="ottla"}} > 0',
        "1m",
        "warning",
        "read_committed consumers wait; `ottla txn find-hanging` says whether a transaction hangs",
    ),
    Alert(
        "OttlaGroupFallsBehind",
        # The first operand is $value.
        f"{group_lag()} > 10000 and deriv({group_lag()}[15m:1m]) > 0",
        "30m",
        "warning",
        "{{ $labels.consumergroup }} is {{ $value }} records behind on {{ $labels.topic }}",
    ),
)


def scrape_config(admin: Address) -> str:
    target, comment = admin, ""
    if admin.host in ("0.0.0.0", "::"):
        target = Address("localhost", admin.port)
        comment = f"""\
      # {admin.host} is every address of the broker: on another host, set its name here.
"""
    return f"""\
# prometheus.yml
scrape_configs:
  - job_name: ottla
    scrape_interval: 15s
    static_configs:
{comment}      - targets: ["{target}"]

# From `ottla generate alerts`.
rule_files:
  - ottla-alerts.yml
"""


def alert_rules() -> str:
    rules = "".join(_rule(alert) for alert in ALERTS)
    return f"# ottla-alerts.yml\ngroups:\n  - name: ottla\n    rules:\n{rules}"


def _rule(alert: Alert) -> str:
    return f"""\
      - alert: {alert.name}
        expr: '{alert.query}'
        for: {alert.lasting}
        labels:
          severity: {alert.severity}
        annotations:
          summary: "{alert.summary}"
"""
