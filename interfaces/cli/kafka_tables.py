"""Tables with the exact layout of Kafka's tools: people cut and grep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from interfaces.cli.output import cell, printable


class Column(NamedTuple):
    head: str
    least: int
    grows: bool = False
    #: Blanks after the widest cell.
    margin: int = 0


OFFSETS = (
    Column("GROUP", 15, grows=True),
    Column("TOPIC", 15, grows=True),
    Column("PARTITION", 10),
    Column("CURRENT-OFFSET", 15),
    Column("LOG-END-OFFSET", 15),
    Column("LAG", 15),
    Column("CONSUMER-ID", 15, grows=True),
    Column("HOST", 15, grows=True),
    Column("CLIENT-ID", 0),
)
STATE = (
    Column("GROUP", 15, grows=True),
    Column("COORDINATOR (ID)", 25, grows=True),
    Column("ASSIGNMENT-STRATEGY", 20),
    Column("STATE", 20),
    Column("#MEMBERS", 0),
)
GROUPS = (Column("GROUP", 15, grows=True, margin=10), Column("TYPE", 20), Column("STATE", 20))
#: Kafka's tool has all but the last.
RESET = (
    Column("GROUP", 15, grows=True),
    Column("TOPIC", 15, grows=True),
    Column("PARTITION", 10),
    Column("NEW-OFFSET", 15),
    Column("PRIOR-OFFSET", 0),
)


def laid_out(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows are keyed by the heads; only cells make a column wider."""
    lines = [[cell(row[one.head]) for one in columns] for row in rows]
    widths = [
        one.margin
        + (max(one.least, *(len(line[n]) for line in lines)) if one.grows and rows else one.least)
        for n, one in enumerate(columns)
    ]
    return "\n".join(
        " ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True))
        for line in ([one.head for one in columns], *lines)
    )


def tabbed(heads: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """As kafka-transactions prints it; the values of each row are in the order of the heads."""
    lines = [["None" if one is None else str(one) for one in row.values()] for row in rows]
    table = [list(heads), *([printable(one) for one in line] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "".join(f"{text:<{width}}\t" for text, width in zip(line, widths, strict=True))
        for line in table
    )
