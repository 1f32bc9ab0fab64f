"""docs/logs.md, from the table of events: `python -m infrastructure.observability.logs_docs`."""

from __future__ import annotations

from collections.abc import Iterator

from application.ports.event import Event
from application.ports.events import SECTIONS

_HEAD = """\
# Logs

<!-- written by scripts/docs from application/ports/events.py -->

The broker logs to stderr: a JSON object per line, or text where stderr is a terminal
(`log.format`). Every line has `time`, `level` and `event`; keys, field names and reasons are stable,
`detail`, `hint` and `error` may change.

    {"time":"2026-11-21T23:38:59.776+00:00","level":"warning","event":"connection_closed","reason":"tls_handshake","peer":"10.0.0.7","connections":1,"detail":"the client began a TLS handshake, and this listener is PLAINTEXT","connection_id":17,"client_id":null,"hint":"set security.protocol=PLAINTEXT in the client"}

The same on a terminal:

    23:38:59.776+00:00 warning connection_closed  reason=tls_handshake  peer=10.0.0.7  connections=1 ...

Common fields:

| field | meaning |
| --- | --- |
| `reason` | why, as one of the keys that are listed with the event |
| `detail` | the same in a sentence |
| `error` | the error message; for a bug the exception, with its `traceback` |
| `principal`, `client_id`, `peer` | the client: its principal, its `client.id`, its address |
| `connection_id`, `correlation_id` | the connection, and the request within it; `/requestz` ([metrics.md](metrics.md)) finds requests by it |
| `group`, `topic`, `partition` | what the line is about |
| `connections`, `within_seconds` | how many connections the line stands for, and in what time |

A line that the reader of stderr does not take in time never blocks the broker.
"""  # noqa: E501


def render() -> str:
    lines = [_HEAD]
    for title, events in SECTIONS.items():
        lines += [f"## {title}", "", "| event | level | fields | meaning |"]
        lines.append("| --- | --- | --- | --- |")
        lines += [_row(key, event) for key, event in events.items()]
        lines.append("")
        for key, event in events.items():
            lines += _reasons(key, event)
    return "\n".join(lines).rstrip("\n")


def _row(key: str, event: Event) -> str:
    fields = ", ".join(f"`{field}`" for field in event.fields.split())
    return f"| `{key}` | {', '.join(event.levels)} | {fields} | {event.meaning} |"


def _reasons(key: str, event: Event) -> Iterator[str]:
    if event.reasons:
        yield from (f"Reasons of `{key}`:", "")
        yield from (f"- `{reason}`: {meaning}" for reason, meaning in event.reasons.items())
        yield ""


if __name__ == "__main__":
    print(render())
