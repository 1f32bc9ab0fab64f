"""The model of the internal topics: after each commit their newest records are the rows."""

from __future__ import annotations

import json
from collections.abc import Callable

from domain.groups.offsets_topic import offset_records
from domain.messages.batch import HEADER_BYTES, RecordBatch
from domain.messages.message import decode_messages
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from domain.transactions.state_record import places_of, transaction_record
from domain.transactions.transaction import TV_2
from infrastructure.storage.repositories import offset_repository, transaction_repository
from tests.simulation.disk import Append, Change, Row

#: As the worlds are configured.
OFFSETS_PARTITIONS = 2
_OFFSET_KEY = b"\0\1"
_COMPLETE_BYTES = 17
_ANY_VALUE = offset_repository._VALUE.pack(0, 0, 0, 0, bytes(16))


class InternalTopicLog:
    """`name`: of the topic; `cluster_key`: of the row that says whether it is complete."""

    name: str
    cluster_key: bytes
    #: Of the rows that the records repeat.
    table: str

    def __init__(self, violation: type[Exception]) -> None:
        self._violation = violation
        #: Of all topics of this name, one after another.
        self._partition_ids: set[int] = set()
        #: By the key of the record: what the rows say, and the newest records.
        self._expected: dict[bytes, bytes | None] = {}
        self._newest: dict[bytes, bytes | None] = {}
        self._is_complete = False
        self.checked = 0

    def take_row(self, row: Row) -> None:
        """A row that the records repeat."""
        raise NotImplementedError

    def repeats(self, key: bytes) -> bool:
        """Whether a record is one of the rows."""
        return True

    def may_lack(self, key: bytes) -> bool:
        return False

    def persisted(self, changes: list[Change]) -> list[Change]:
        """Returns the changes of other topics, once all of the commit are applied."""
        others = [change for change in changes if not self._takes(change)]
        if self._is_complete:
            newest = {key: value for key, value in self._newest.items() if value is not None}
            self.checked += bool(newest)
            expected = {
                key: value
                for key, value in self._expected.items()
                if key in newest or not self.may_lack(key)
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
                if one.key is not None and self.repeats(one.key):
                    self._newest[one.key] = one.value
        return True

    def _row(self, row: Row) -> bool:
        if row.table == self.table:
            self.take_row(row)
        elif row.table == "cluster" and row.key == self.cluster_key:
            self._is_complete = len(row.value or b"") == _COMPLETE_BYTES
        elif row.table == "topics" and row.key == self.name.encode():
            self._newest.clear()
            if row.value is not None:
                self._partition_ids |= set(json.loads(row.value)["partitions"])
            return True
        return False


class TransactionTopicLog(InternalTopicLog):
    name, cluster_key, table = TRANSACTION_TOPIC, b"transaction_topic", "transactions"

    def __init__(self, violation: type[Exception]) -> None:
        super().__init__(violation)
        #: Of records, by the digest of the id, which rows have.
        self._keys: dict[bytes, bytes] = {}

    def take_row(self, row: Row) -> None:
        if row.value is None:
            self._expected.pop(self._keys.get(row.key, b""), None)
            return
        transaction = transaction_repository._decode(row.value)
        places = places_of(transaction, OFFSETS_PARTITIONS)
        key, value = transaction_record(transaction, places, TV_2)
        self._keys[row.key] = key
        self._expected[key] = value


class OffsetsTopicLog(InternalTopicLog):
    name, cluster_key, table = OFFSETS_TOPIC, b"offsets_topic", "offsets"

    def __init__(self, violation: type[Exception], is_live: Callable[[bytes], bool]) -> None:
        """`is_live`: whether there is a topic with this id."""
        super().__init__(violation)
        self._is_live = is_live
        self._topic_ids: dict[bytes, bytes] = {}
        self.transactions = TransactionTopicLog(violation)

    def persisted(self, changes: list[Change]) -> list[Change]:
        return super().persisted(self.transactions.persisted(changes))

    def take_row(self, row: Row) -> None:
        *place, committed = offset_repository.offset_row(row.key, row.value or _ANY_VALUE)
        group_id, topic, partition = place
        [(key, value)] = offset_records(group_id, [(topic, partition, committed)])
        if row.value is None:
            self._expected.pop(key, None)
        else:
            self._expected[key] = value
            self._topic_ids[key] = committed.topic_id

    def repeats(self, key: bytes) -> bool:
        return key.startswith(_OFFSET_KEY)

    def may_lack(self, key: bytes) -> bool:
        """Rows of deleted topics go later, and a start does not append them any more."""
        return not self._is_live(self._topic_ids[key])
