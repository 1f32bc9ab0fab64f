"""GroupImage: the groups and committed offsets in __consumer_offsets.

An offset of a transaction counts when the transaction is committed, unless another record of its
partition came after it, as in Kafka.
"""

from __future__ import annotations

from collections import defaultdict

from domain.groups.classic.metadata_record import (
    GROUP_KEY,
    GroupWithoutMembers,
    read_group_key,
    read_group_value,
)
from domain.groups.consumer.metadata_record import (
    GROUP_EPOCH_KEY,
    TARGET_EPOCH_KEY,
    read_epoch,
    read_group_id,
)
from domain.groups.offsets import CommittedOffset
from domain.groups.offsets_topic import OFFSET_KEYS, read_offset_key, read_offset_value
from domain.messages.batch import CONTROL, TRANSACTIONAL, RecordBatch
from domain.messages.control import read_end_marker
from domain.messages.message import Message
from domain.topics.internal_records import Fields

#: Group, topic and partition.
OffsetPlace = tuple[str, str, int]
#: The offset of the record, and what it commits.
Written = tuple[int, CommittedOffset]

#: Keys of consumer groups that are about members only, or topics.
_MEMBERS = {4, 5, 7, 8, 16}
_SHARE = set(range(9, 16))
_STREAMS = set(range(17, 24))


class GroupImage:
    def __init__(self) -> None:
        self.offsets: dict[OffsetPlace, Written] = {}
        #: Of open transactions, by producer id.
        self.pending: dict[int, dict[OffsetPlace, Written]] = defaultdict(dict)
        self.classic: dict[str, GroupWithoutMembers] = {}
        #: The group epoch, and that of the target assignment.
        self.consumer: dict[str, int] = {}
        self.targets: dict[str, int] = {}
        self.share: set[str] = set()
        self.streams: set[str] = set()

    def group_ids(self) -> set[str]:
        of_offsets = {group for group, _, _ in self.offsets}
        return of_offsets | self.classic.keys() | self.consumer.keys()

    def replay_marker(self, batch: RecordBatch) -> None:
        marker = read_end_marker(batch) if batch.attributes & CONTROL else None
        if marker is None:
            return
        for place, written in self.pending.pop(marker.producer_id, {}).items():
            before = self.offsets.get(place)
            if marker.committed and (before is None or before[0] < written[0]):
                self.offsets[place] = written

    def replay(self, batch: RecordBatch, record: Message) -> None:
        """Raises InvalidRecord."""
        key, value = record.key or b"", record.value
        kind = Fields(key).version(0, 23)
        if kind in OFFSET_KEYS:
            place = read_offset_key(key)
            if value is None:
                self.offsets.pop(place, None)
                return
            written = record.offset, read_offset_value(value)
            if batch.attributes & TRANSACTIONAL:
                self.pending[batch.producer_id][place] = written
            else:
                self.offsets[place] = written
        elif kind == GROUP_KEY:
            group = read_group_key(key)
            self.classic.pop(group, None)
            if value is not None:
                self.classic[group] = read_group_value(value)
        elif kind in (GROUP_EPOCH_KEY, TARGET_EPOCH_KEY):
            epochs = self.consumer if kind == GROUP_EPOCH_KEY else self.targets
            group = read_group_id(key)
            epochs.pop(group, None)
            if value is not None:
                epochs[group] = read_epoch(value)
        elif kind not in _MEMBERS:
            self._other(kind, read_group_id(key), value is not None)

    def _other(self, kind: int, group: str, exists: bool) -> None:
        groups = self.share if kind in _SHARE else self.streams
        assert kind in _SHARE | _STREAMS
        # Of each kind of group, the record that goes last: the epoch of the group.
        if exists:
            groups.add(group)
        elif kind in (11, 17):
            groups.discard(group)
