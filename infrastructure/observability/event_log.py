"""The event log and the request log write their lines here: a dict of fields to a line of bytes."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, BinaryIO

import orjson

from application.ports.event_log import EventLog
from infrastructure.observability.log_stream import LogStream, log_stream

Line = dict[str, Any]


class LineLog:
    """Implements EventLog."""

    __slots__ = ("_lines", "_render")

    def __init__(self, lines: LogStream, render: Callable[[Line], bytes]) -> None:
        self._lines = lines
        self._render = render

    def info(self, event: str, **fields: object) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, object]) -> None:
        self._lines.write(self._render(_line(level, event, fields)))


def open_event_log(stream: BinaryIO, log_format: str) -> EventLog:
    """`log_format` is "json", one object a line, or "console", for people."""
    return _open(stream, log_format)[0]


@contextmanager
def event_log(stream: BinaryIO, log_format: str, patience_seconds: float) -> Iterator[EventLog]:
    """At the end a slow reader has `patience_seconds` to take the last lines."""
    log, lines = _open(stream, log_format)
    try:
        yield log
    finally:
        lines.drain(patience_seconds)


def _open(stream: BinaryIO, log_format: str) -> tuple[EventLog, LogStream]:
    render = _render_json if log_format == "json" else _render_console
    lines = log_stream(
        stream, lambda count: render(_line("warning", "log_lines_dropped", {"lines": count}))
    )
    return LineLog(lines, render), lines


def _line(level: str, event: str, fields: dict[str, object]) -> Line:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    line: Line = {"time": now, "level": level, "event": event, **fields}
    error = line.get("error")
    if isinstance(error, BaseException):
        line["error"] = f"{type(error).__name__}: {error}"
        line["traceback"] = "".join(traceback.format_exception(error))
    return line


def _render_json(line: Line) -> bytes:
    try:
        return orjson.dumps(line, default=str, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # A lone surrogate, or a number past 64 bits: only what a client sent can be so odd.
        escaped = {name: ascii(value) for name, value in line.items()}
        return orjson.dumps(escaped, option=orjson.OPT_APPEND_NEWLINE)


def _render_console(line: Line) -> bytes:
    clock = _local_clock(line.pop("time"))
    level, event = line.pop("level"), line.pop("event")
    details = line.pop("traceback", None)
    fields = "".join(f"  {name}={_plain(value)}" for name, value in line.items())
    text = f"{clock} {level:<7} {event}{fields}\n"
    if details:
        text += str(details).rstrip() + "\n"
    return text.encode("utf-8", "backslashreplace")


def _local_clock(time: str) -> str:
    """21:34:30.831+01:00, in the zone of TZ, as the console page shows its browser's."""
    return datetime.fromisoformat(time).astimezone().timetz().isoformat(timespec="milliseconds")


def _plain(value: object) -> str:
    """As in JSON, a list with commas; quoted if it is not one word, so that no client can start a
    new line.
    """
    if isinstance(value, bool):
        return str(value).lower()
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if text.isprintable() and " " not in text and text else repr(text)
