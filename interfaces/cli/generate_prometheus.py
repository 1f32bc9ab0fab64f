"""What Prometheus is to be told: where the broker is, and of what it shall warn."""

from __future__ import annotations

from dataclasses import dataclass

from application.metrics.families import jmx, own, process
from application.metrics.families import kafka_exporter as exporter
from interfaces.terminal.addresses import Address


@dataclass(frozen=True)
class Alert:
    name: str
    query: str
    lasting: str
    severity: str
    summary: str


ALERTS = (
    Alert(
        "OttlaDown", 'up{job="ottla"} == 0', "1m", "critical", "{{ $labels.instance }} is not there"
    ),
    Alert(
        "OttlaPartitionsUnreadable",
        f"{jmx.OFFLINE_PARTITIONS.name} > 0",
        "1m",
        "critical",
        "{{ $value }} partitions cannot be read",
    ),
    Alert(
        "OttlaCommitsFail",
        f"increase({own.COMMIT_FAILURES.name}[5m]) > 0",
        "0m",
        "critical",
        "what clients produce cannot be kept",
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
        "the one core that it has is not enough, or the disk is slow",
    ),
    Alert(
        "OttlaFilesRunOut",
        f'{process.OPEN_FILES.name}{{job="ottla"}} / {process.MOST_FILES.name} > 0.8',
        "5m",
        "warning",
        "there are too many connections",
    ),
    Alert(
        "OttlaGroupFallsBehind",
        # What stands first is $value.
        f"sum by (instance, consumergroup, topic) ({exporter.GROUP_LAG_SUM.name}) > 10000"
        f" and sum by (instance, consumergroup, topic) (deriv({exporter.GROUP_LAG_SUM.name}[15m]))"
        " > 0",
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
      # {admin.host} is every address of the broker's machine: elsewhere, name it here.
"""
    return f"""\
# prometheus.yml
scrape_configs:
  - job_name: ottla
    scrape_interval: 15s
    static_configs:
{comment}      - targets: ["{target}"]

# `ottla generate alerts` prints it.
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
