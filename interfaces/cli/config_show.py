"""`ottla config show`: every setting and its value; the TOML output is a settings file.

A value with a password is printed without it, and as a comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from domain.configs.passwords import MASK, without_password
from domain.configs.settings.definition import Definition, Kind, Value


class Row:
    __slots__ = ("definition", "origin", "value")

    def __init__(self, definition: Definition, value: Value, origin: str) -> None:
        self.definition = definition
        self.value = value
        self.origin = origin


def as_toml(rows: Sequence[Row], *, origin: bool) -> str:
    """Keys in quotes: flush and flush.interval.ms cannot both be bare TOML keys."""
    lines = [_line(row) for row in rows]
    if origin:
        width = max(map(len, lines))
        return "\n".join(
            f"{line:<{width}}  # {row.origin}" for line, row in zip(lines, rows, strict=True)
        )
    return "\n".join(lines)


def as_json(rows: Iterable[Row]) -> str:
    return json.dumps(
        {row.definition.name: {"value": _shown(row), "origin": row.origin} for row in rows},
        indent=2,
    )


def as_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [
        {"name": row.definition.name, "value": _plain(_shown(row)), "origin": row.origin}
        for row in rows
    ]


def _plain(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(row: Row) -> Value:
    if row.definition.sensitive and isinstance(row.value, str):
        return MASK if row.definition.kind is Kind.PASSWORD else without_password(row.value)
    return row.value


def _line(row: Row) -> str:
    value = _shown(row)
    if value is None:
        return f'# "{row.definition.name}" is not set'
    # JSON is valid TOML here, except for DEL, which TOML requires escaped.
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    line = f'"{row.definition.name}" = {text}'
    return line if value == row.value else f"# {line} (fill in the password)"
