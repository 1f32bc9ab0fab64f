"""docs/metrics.md, written from the tables of metrics: `python -m interfaces.rest.metrics_docs`."""

from __future__ import annotations

from application.metrics.all_families import SECTIONS
from application.metrics.families.family import Family

_HEAD = """\
# Metrics

<!-- written by scripts/docs from the tables in application/metrics -->

`GET /metrics` on the admin address (`admin.listeners`, localhost:8082) returns all metrics in
Prometheus's text format, with the names of kafka_exporter, the JMX exporter and kminion, so that
existing dashboards and alerts work.

```sh
ottla generate prometheus --admin localhost:8082
ottla generate alerts
ottla generate grafana
```

print a scrape configuration, alerts and a dashboard ([grafana/ottla.json](grafana/ottla.json)).

- All requests are counted and timed. **The stages of a request are sampled**: all of them up to
  1,000 requests a second, else 100 in each tenth of a second, and those that failed or were slow.
- A request whose connection ended before its response counts in
  `ottla_requests_without_response_total` only.
- Counters do not go down while a partition cannot be read, or when another broker leads it.
- A scrape is read in slices of a millisecond; scrapes that overlap get the same text. The first one
  loads all partitions that no client has used since the start. It has 40 lines for each API in use
  and 8 for each partition, 9 with several brokers: 81 KB with ten topics.
- `kafka_network_requestmetrics_totaltimems` covers the time since the start. For recent latencies
  use `histogram_quantile` over `ottla_request_duration_seconds_bucket`.
- Clients with quotas have their rate and throttle time: 1,000 rates of one user, client id or both
  at most. An empty label stands for all users or all client ids, which share the rate.
- Each of several brokers over one store has the metrics of the partitions that it leads, so sums
  over all are right. Replicas are brokers that may lead; they hold no copies.
- **Lag of groups with several brokers**: the coordinator of a group knows its committed offsets,
  and the leader of a partition its end. So there is `kafka_consumergroup_lag` only where one broker
  is both, and a sum over a topic only if it leads all partitions in which the group has committed.
  `OttlaGroupFallsBehind` and the dashboard use neither: they compute the lag from the committed
  offsets and ends of all brokers of a cluster (`cluster_id` of `ottla_build_info`), so let one
  Prometheus have all of them, and select all instances in the dashboard.
- `ottla_store_free_bytes` of `ottla_store_used_bytes` are free: new records reuse them, and
  `ottla storage compact` returns them to the disk.

## Recent requests

`GET /requestz` returns the newest completed requests, with the fields of the request log. Filters:
`correlation_id`, `client_id`, `api`, `topic` (of requests that name one topic), `errors=true`,
`slow_ms`, `polling=false` (without successful Fetch and heartbeat requests), `limit`. It has the
newest requests whose stages were sampled, and those that failed or took `log.requests.slow.ms`,
`requests.recent.max` (10,000) at most of each. The latter stay for five minutes, up to 33 a second,
of which a repeated failure (client, API and errors) gets half. The newest 1,000 HTTP requests
(`api=http`) are among them; successful polls of the console, of health and of metrics are not.

## History

`GET /history` returns the last hour of the broker, a sample every ten seconds: rates of records,
bytes, requests and failures, latency of Produce and of commits, connections, disk.
`GET /topics/T/history` has the rates of a topic, `GET /groups/G/history` the lag of a group: of 200
topics with traffic in that hour, and of the first 200 groups. The history is in memory (3 MB at
most) and starts with the broker. Nothing is read from disk for it: the lag of a group is null until
each of its partitions has been used since the start, and while other brokers lead one of them.

## OpenTelemetry

`--set otel.endpoint=http://collector:4318/v1/metrics` sends all metrics to a collector every
`otel.interval.ms`, by OTLP over HTTP in JSON, with the same names and labels. Values that cannot be
sent are dropped, and logged as `metrics_export_failed` once.
"""


def render() -> str:
    lines = [_HEAD]
    for title, families in SECTIONS.items():
        lines += [
            f"## {title}",
            "",
            "| metric | kind | labels | meaning |",
            "| --- | --- | --- | --- |",
        ]
        lines += map(_row, families)
        lines.append("")
    return "\n".join(lines).rstrip("\n")


def _row(family: Family) -> str:
    labels = ", ".join(f"`{label}`" for label in family.labels)
    return f"| `{family.name}` | {family.kind.value} | {labels} | {family.help} |"


if __name__ == "__main__":
    print(render())
