"""docs/metrics.md, written from the tables of metrics: `python -m interfaces.rest.metrics_docs`."""

from __future__ import annotations

from collections.abc import Iterable

from application.metrics.all_families import SECTIONS
from application.metrics.families.family import Family

_HEAD = """\
# Metrics

Written by `python -m interfaces.rest.metrics_docs` from the tables in `application/metrics/`;
change those, not this.

`GET /metrics` on the admin address (`admin.listeners`, localhost:8082) tells all of them as text
that Prometheus reads. The names are those that boards and alerts already ask for: whoever used
kafka_exporter, the JMX exporter or kminion beside Kafka needs none of them here.

```sh
ottla generate prometheus --admin localhost:8082
ottla generate alerts
ottla generate grafana
```

print what Prometheus is to scrape, a few alerts, and a dashboard, which is also in
[grafana/ottla.json](grafana/ottla.json).

- All answered requests are counted, with their bytes and how long they took. **Where that time
  went is noted of a sample**: all where there are fewer than 1,000 a second, else 100 in each tenth
  of a second, and what failed or was slow. A produce request that repeats an earlier one is not
  looked at on its way beyond that: where it fails, all its time is said to be one of waiting, and
  is in no stage ([performance.md](performance.md)).
- A request whose connection ended before its answer is in `ottla_unanswered_requests_total` alone.
  What came as a whole and had not begun, behind another request, is nowhere.
- No counter goes down while a partition cannot be read: what is known of it stays. Of one that
  could not be read since the start nothing is known until it can.
- Reading is done in slices of a millisecond between which clients are served. Who asks while
  it goes on gets the same text. A partition that nobody has used since the start is loaded for it.
- `kafka_network_requestmetrics_totaltimems` is of all requests since the start. For what is now,
  use `histogram_quantile` over `ottla_request_duration_seconds_bucket`.
- What one node cannot have is told all the same, with the one value that is right: one broker, one
  replica, no partition under-replicated.
- `ottla_store_used_bytes` is how far the store's file was ever used. What is deleted is used again,
  but given back to the disk only by a new store.

## Recent requests

`GET /requestz` shows the newest requests that were answered, with the fields of the request log;
`time` is that of its line, to the millisecond. It takes `correlation_id`, `client_id`, `api`,
`errors=true`, `slow_ms` and `limit`. There are two sets of them, shown as one in the order of time,
each of `requests.recent.max` (10,000) at most: the newest whose stages are noted, and those that
failed or took `log.requests.slow.ms`, which stay for
five minutes at least however much else is asked. Of more than 33 of these in a second (with the
default) the rest go to the others, and where most are of one kind (client, API and error) that one
gets half of the room. A topic that is given by its id is shown by its name as long as it is there.
Only requests of Kafka clients are there: what was asked over HTTP, with a text as its correlation
id, is found by that id in the log.

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
            "| metric | kind | labels | says |",
            "| --- | --- | --- | --- |",
        ]
        lines += map(_row, families)
        lines.append("")
    return "\n".join(lines).rstrip("\n")


def _row(family: Family) -> str:
    labels = _words(f"`{label}`" for label in family.labels)
    return f"| `{family.name}` | {family.kind.value} | {labels} | {family.help} |"


def _words(words: Iterable[str]) -> str:
    return ", ".join(words)


if __name__ == "__main__":
    print(render())
