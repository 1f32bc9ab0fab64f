"""The model of __consumer_offsets: after each commit its newest records are the rows of offsets."""

from __future__ import annotations

import json
from collections.abc import Callable

from domain.groups.offsets_topic import offset_records
from domain.messages.batch import HEADER_BYTES, RecordBatch
from domain.messages.message import decode_messages
from domain.topics.topic import OFFSETS_TOPIC
from infrastructure.storage.repositories import offset_repository
from tests.simulation.store import Append, Change, Row

_OFFSET_KEY = b"\0\1"
_COMPLETE_BYTES = 17
_ANY_VALUE = offset_repository._VALUE.pack(0, 0, 0, 0, bytes(16))


class OffsetsTopicLog:
    def __init__(self, violation: type[Exception], is_live: Callable[[bytes], bool]) -> None:
        """`is_live`: whether there is a topic with this id."""
        self._is_live = is_live
        self._violation = violation
        #: Of all topics of this name, one after another.
        self._partition_ids: set[int] = set()
        #: By the key of the record: what the rows say, and the newest records.
        self._expected: dict[bytes, bytes | None] = {}
        self._topic_ids: dict[bytes, bytes] = {}
        self._newest: dict[bytes, bytes | None] = {}
        self._is_complete = False
        self.checked = 0

    def persisted(self, changes: list[Change]) -> list[Change]:
        """Returns the changes of other topics, once all of the commit are applied."""
        others = [change for change in changes if not self._takes(change)]
        if self._is_complete:
            self.checked += 1
            newest = {key: value for key, value in self._newest.items() if value is not None}
            # Rows of deleted topics go later, and a start does not append them any more.
            expected = {
                key: value
                for key, value in self._expected.items()
                if key in newest or self._is_live(self._topic_ids[key])
            }
            if newest != expected:
                raise self._violation(f"the records are {newest}, the rows {expected}")
        return others

    def _takes(self, change: Change) -> bool:
        if isinstance(change, Row):
            return self._row(change)
        if change.partition_id not in self._partition_ids:
            return False
        if isinstance(change, Append):
            batch = RecordBatch(memoryview(change.batch))
            records = change.batch[HEADER_BYTES:]
            for one in decode_messages(records, batch.base_offset, 0, batch.count):
                if one.key is not None and one.key.startswith(_OFFSET_KEY):
                    self._newest[one.key] = one.value
        return True

    def _row(self, row: Row) -> bool:
        if row.table == "offsets":
            self._offset(row)
        elif row.table == "cluster" and row.key == b"offsets_topic":
            self._is_complete = len(row.value or b"") == _COMPLETE_BYTES
        elif row.table == "topics" and row.key == OFFSETS_TOPIC.encode():
            self._newest.clear()
            if row.value is not None:
                self._partition_ids |= set(json.loads(row.value)["partitions"])
            return True
        return False

    def _offset(self, row: Row) -> None:
        *place, committed = offset_repository.offset_row(row.key, row.value or _ANY_VALUE)
        group_id, topic, partition = place
        [(key, value)] = offset_records(group_id, [(topic, partition, committed)])
        if row.value is None:
            self._expected.pop(key, None)
        else:
            self._expected[key] = value
            self._topic_ids[key] = committed.topic_id
