"""Topics as rows, the same for every engine.

topics          name -> {"id", "partitions", "configs"}
doomed          partition id -> nothing: data of a deleted topic that is still to be dropped
counters        "partition_ids" -> the next partition id
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from struct import Struct

from application.ports.log_store import LogName, LogStore
from application.ports.state_store import StateStore
from domain.topics.topic import Topic

TOPICS = "topics"
_DOOMED = "doomed"
_COUNTERS = "counters"
_PARTITION_IDS = b"partition_ids"

_PARTITION_ID = Struct(">I")


class StoredTopicRepository:
    __slots__ = ("_log", "_next_partition_id", "_state")

    def __init__(self, log: LogStore, state: StateStore) -> None:
        self._log = log
        self._state = state
        counter = state.get(_COUNTERS, _PARTITION_IDS)
        if counter is None:
            # If the row is lost there may be batches: a new topic must not get their ids.
            first = max(log.partition_ids(), default=-1) + 1
        else:
            first = int(counter)
        # Ahead of the row after a failed commit: an id that was staged once is never reused.
        self._next_partition_id = first

    def load(self) -> list[Topic]:
        return [_topic(name, row) for name, row in self._state.scan(TOPICS)]

    def save(self, topic: Topic) -> None:
        self._state.put(TOPICS, topic.name.encode(), _row(topic))
        for index, partition_id in enumerate(topic.partition_ids):
            self._log.name(partition_id, LogName(topic.name, index, topic.topic_id))

    def delete(self, topic: Topic) -> None:
        self._state.put(TOPICS, topic.name.encode(), None)
        self.doom(topic.partition_ids)

    def follow(self, changed: Callable[[Mapping[str, Topic | None]], None]) -> None:
        def rows_changed(names: Sequence[bytes]) -> None:
            rows = [(name, self._state.get(TOPICS, name)) for name in names]
            changed(
                {name.decode(): None if row is None else _topic(name, row) for name, row in rows}
            )

        self._state.follow(TOPICS, rows_changed)

    def doom(self, partition_ids: Collection[int]) -> None:
        """Their data is dropped, unless a topic gets them before the next start of a broker."""
        for partition_id in partition_ids:
            self._log.name(partition_id, None)
        pack = _PARTITION_ID.pack
        self._state.put_all(_DOOMED, [(pack(each), b"") for each in partition_ids])

    def reserve_partition_ids(self, count: int) -> tuple[int, ...]:
        # Another broker may have raised the row.
        first = max(self._next_partition_id, int(self._state.get(_COUNTERS, _PARTITION_IDS) or 0))
        self._next_partition_id = first + count
        self._state.put(_COUNTERS, _PARTITION_IDS, b"%d" % self._next_partition_id)
        return tuple(range(first, first + count))

    def doomed_partitions(self) -> list[int]:
        return [_PARTITION_ID.unpack(key)[0] for key, _ in self._state.scan(_DOOMED)]

    def dropped(self, partition_id: int) -> None:
        self._state.put(_DOOMED, _PARTITION_ID.pack(partition_id), None)


def _row(topic: Topic) -> bytes:
    row = {
        "id": topic.topic_id.hex(),
        "partitions": topic.partition_ids,
        "configs": dict(topic.configs),
    }
    return json.dumps(row, separators=(",", ":")).encode()


def partition_ids_of(row: bytes) -> list[int]:
    ids: list[int] = json.loads(row)["partitions"]
    return ids


def _topic(name: bytes, row: bytes) -> Topic:
    values = json.loads(row)
    return Topic(
        name.decode(),
        bytes.fromhex(values["id"]),
        tuple(values["partitions"]),
        values["configs"],
    )
