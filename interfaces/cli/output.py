"""Output of commands: a table for people and grep, JSON or YAML for programs."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
EMPTY = "-"


def show(rows: Any, form: str, table: str) -> None:
    """Prints `rows` as JSON or YAML, or `table`."""
    if form == "json":
        text = json.dumps(rows, indent=2, ensure_ascii=False)
    elif form == "yaml":
        import yaml

        text = yaml.safe_dump(rows, sort_keys=False, allow_unicode=True).rstrip("\n")
    else:
        text = table
    if text:
        print(text)
    sys.stdout.flush()


def show_rows(rows: Sequence[Row], form: str, columns: Sequence[str]) -> None:
    """A column's head is its key in capitals, except for a timestamp (@-1h)."""
    show(list(rows), form, table(columns, rows))


def table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    heads = [name if name.startswith("@") else name.replace("_", "-").upper() for name in columns]
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    return "\n".join(
        "  ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip()
        for line in (heads, *cells)
    )


def cell(value: Any) -> str:
    """Control characters are escaped."""
    if value is None or value == "":
        return EMPTY
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(map(cell, value)) or EMPTY
    return printable(str(value))


def printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def note(line: str) -> None:
    """Prints on stderr."""
    print(line, file=sys.stderr, flush=True)


def check_stdout() -> None:
    """Raises BrokenPipeError after `| head` has ended; the next write may never come."""
    reader = select.poll()
    reader.register(sys.stdout.fileno(), 0)
    if any(event & select.POLLERR for _, event in reader.poll(0)):
        raise BrokenPipeError


def confirmed(question: str, yes: bool) -> bool:
    """Asks for confirmation on a terminal only, not in a script."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
