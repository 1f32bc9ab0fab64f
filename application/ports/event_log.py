"""EventLog: structured log lines about the broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

#: A request that changes more topics writes one line, with their number in `topics`.
TOPICS_LOGGED_EACH = 100


def topic_lines(partitions: Mapping[str, int]) -> Iterator[dict[str, object]]:
    """The fields of each line about topics that one request changed, with their partitions."""
    if len(partitions) > TOPICS_LOGGED_EACH:
        yield {"topics": len(partitions), "partitions": sum(partitions.values())}
        return
    for topic, count in partitions.items():
        yield {"topic": topic, "partitions": count}


class EventLog(Protocol):
    """`event` is a key of application/ports/events.py, which declares its fields too. An exception
    in the field `error` is written with its traceback. Never raises, even if the disk of the log
    is full.
    """

    def info(self, event: str, **fields: object) -> None: ...

    def warning(self, event: str, **fields: object) -> None: ...

    def error(self, event: str, **fields: object) -> None: ...
