"""Requests and acknowledgements of a run, each with its place in the trace.

["topic", name, id, partitions, bytes]       was created with retention.bytes: acknowledged
["deleting", id]     ["deleted", id]         requested, acknowledged
["producer", producer id]                    was assigned
["sent", id, partition, digest, records, producer id, epoch, sequence]
["acked", id, partition, digest, base offset]
["removing", id, partition, digest, ...]     by compaction: begins, and is done
["removed", id, partition, digest, ...]
["flushing"]                                 a flush begins
["closed"]                                   the store was closed in order
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

#: Bytes of a batch from here on must not change.
_SEALED_FROM = 16

Place = tuple[str, int]


def digest(batch: bytes | bytearray | memoryview) -> str:
    return hashlib.blake2b(memoryview(batch)[_SEALED_FROM:], digest_size=8).hexdigest()


@dataclass
class Sent:
    place: Place
    records: int
    producer: tuple[int, int, int]


@dataclass
class Ledger:
    """The state at a moment of a run."""

    topics: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: By topic id.
    retention_bytes: dict[str, int] = field(default_factory=dict)
    deleting: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    last_producer_id: int = -1
    sent: dict[str, Sent] = field(default_factory=dict)
    #: Place -> digest -> base offset, in the order of offsets.
    acked: dict[Place, dict[str, int]] = field(default_factory=dict)
    removing: dict[Place, set[str]] = field(default_factory=dict)
    removed: dict[Place, set[str]] = field(default_factory=dict)

    def note(self, marks: Iterable[list[Any]]) -> None:
        for what, *values in marks:
            match what:
                case "topic":
                    name, topic_id, partitions, retention_bytes = values
                    self.topics[topic_id] = (name, partitions)
                    self.retention_bytes[topic_id] = retention_bytes
                case "deleting":
                    self.deleting.add(values[0])
                case "deleted":
                    self.deleted.add(values[0])
                case "producer":
                    self.last_producer_id = max(self.last_producer_id, values[0])
                case "sent":
                    topic_id, partition, content, records, *producer = values
                    self.sent[content] = Sent((topic_id, partition), records, tuple(producer))
                case "removing" | "removed":
                    topic_id, partition, *contents = values
                    found = self.removing if what == "removing" else self.removed
                    found.setdefault((topic_id, partition), set()).update(contents)
                case "acked":
                    topic_id, partition, content, offset = values
                    self.acked.setdefault((topic_id, partition), {})[content] = offset
