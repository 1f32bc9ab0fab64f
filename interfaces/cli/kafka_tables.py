"""Tables as kafka-consumer-groups lays them out, blank for blank: people cut and grep these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from interfaces.cli.output import cell


class Column(NamedTuple):
    head: str
    least: int
    grows: bool = False
    #: Blanks to the right of what is widest in it.
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
#: Of Kafka's tool is all but the last.
RESET = (
    Column("GROUP", 15, grows=True),
    Column("TOPIC", 15, grows=True),
    Column("PARTITION", 10),
    Column("NEW-OFFSET", 15),
    Column("PRIOR-OFFSET", 0),
)


def laid_out(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows by the heads of their columns; only what is below a head makes a column wider."""
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
