"""Logs that record their lines."""

from __future__ import annotations

from application.ports.events import EVENTS
from application.ports.request_log import RequestRecord


def check_declared(level: str, event: str, fields: dict[str, object]) -> None:
    """Every line is as application/ports/events.py declares it."""
    declared = EVENTS[event]
    assert level in declared.levels, f"{event}: {level}"
    unknown = fields.keys() - declared.fields.split()
    assert not unknown, f"{event}: {unknown}"
    assert not declared.reasons or fields["reason"] in declared.reasons, f"{event}: {fields}"


class FakeEventLog:
    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def info(self, event: str, **fields: object) -> None:
        self._record("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._record("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._record("error", event, fields)

    def _record(self, level: str, event: str, fields: dict[str, object]) -> None:
        check_declared(level, event, fields)
        self.lines.append((level, event, fields))

    def of(self, event: str) -> list[dict[str, object]]:
        return [fields for _, name, fields in self.lines if name == event]


class FakeRequestLog:
    def __init__(self, enabled: bool = False, slow_ns: int = 0) -> None:
        self.enabled = enabled
        self.quick_ns = slow_ns if enabled else 1 << 63
        self.slow_ns = slow_ns or 1 << 63
        self.records: list[RequestRecord] = []

    def includes(self, elapsed_ns: int, failed: bool) -> bool:
        return self.enabled and (failed or elapsed_ns >= self.quick_ns)

    def write(self, record: RequestRecord) -> None:
        self.records.append(record)
