"""The one place where logging is set up: structlog, straight to a stream of bytes.

No standard library logging underneath (three times the cost a line), no lazy proxy: what
`open_event_log` returns is bound once and used as it is.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, BinaryIO

import orjson

from application.ports.event_log import EventLog
from infrastructure.observability.log_stream import LogStream, log_stream


def _import_structlog() -> Any:
    """structlog imports rich where that is installed: 150 ms at start for what is not used here."""
    hidden = "rich" not in sys.modules
    if hidden:
        sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog
    finally:
        if hidden:
            del sys.modules["rich"]
    return structlog


def open_event_log(stream: BinaryIO, log_format: str) -> EventLog:
    """`log_format` is "json", one object a line, or "console", for people."""
    return _open(stream, log_format)[0]


@contextmanager
def event_log(stream: BinaryIO, log_format: str, patience_seconds: float) -> Iterator[EventLog]:
    """At the end a reader that is late has `patience_seconds` to take the last lines."""
    log, lines = _open(stream, log_format)
    try:
        yield log
    finally:
        lines.drain(patience_seconds)


def _open(stream: BinaryIO, log_format: str) -> tuple[EventLog, LogStream]:
    structlog = _import_structlog()
    render = _render_json if log_format == "json" else _render_console

    def dropped(lines: int) -> bytes:
        event = {"event": "log_lines_dropped", "lines": lines}
        return render(None, "warning", _add_facts(None, "warning", event)) + b"\n"

    lines = log_stream(stream, dropped)
    log: EventLog = structlog.wrap_logger(
        structlog.BytesLogger(lines),
        processors=[_add_facts, render],
        wrapper_class=structlog.make_filtering_bound_logger(20),
    ).bind()
    return log, lines


def _add_facts(_logger: Any, level: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = {"time": now, "level": level, "event": event.pop("event"), **event}
    error = line.get("error")
    if isinstance(error, BaseException):
        line["error"] = f"{type(error).__name__}: {error}"
        line["traceback"] = "".join(traceback.format_exception(error))
    return line


def _render_json(_logger: Any, _level: str, line: MutableMapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(line, default=str)
    except TypeError:
        # A lone surrogate, or a number past 64 bits: only what a client sent can be so odd.
        return orjson.dumps({name: ascii(value) for name, value in line.items()})


def _render_console(_logger: Any, _level: str, line: MutableMapping[str, Any]) -> bytes:
    clock = _local_clock(line.pop("time"))
    level, event = line.pop("level"), line.pop("event")
    details = line.pop("traceback", None)
    fields = "".join(f"  {name}={_plain(value)}" for name, value in line.items())
    text = f"{clock} {level:<7} {event}{fields}"
    if details:
        text += "\n" + str(details).rstrip()
    return text.encode("utf-8", "backslashreplace")


def _local_clock(time: str) -> str:
    """21:34:30.831+01:00, in the zone of TZ, as the console page shows its browser's."""
    return datetime.fromisoformat(time).astimezone().timetz().isoformat(timespec="milliseconds")


def _plain(value: object) -> str:
    """Quoted where it would not read as one word; what clients send cannot start a new line."""
    text = str(value)
    return text if text.isprintable() and " " not in text and text else repr(text)
