"""Committed offsets as rows beside the log, in the log's own commits.

offsets         length of the group id, group id, length of the topic, topic, partition
                -> offset, leader epoch, commit and expire timestamp, topic id, metadata
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from struct import error as StructError

from application.ports.offset_repository import OffsetRow, OffsetWrite
from application.ports.state_store import RowChange, StateStore
from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset

OFFSETS = "offsets"
_LENGTH = Struct(">I")
_PARTITION = Struct(">I")
_VALUE = Struct(">qiqq16s")
#: In place of an expire timestamp.
_NEVER = -1

WhenCommitted = Callable[[Callable[[StorageFailed | None], None]], None]


class StoredOffsetRepository:
    __slots__ = ("_state", "_when_committed")

    leaves_doubt = False

    def __init__(self, state: StateStore, when_committed: WhenCommitted) -> None:
        """`when_committed` calls back after the commit of all that is staged by then."""
        self._state = state
        self._when_committed = when_committed

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        take([offset_row(key, value) for key, value in self._state.scan(OFFSETS)])
        done()

    def load_groups(self, includes: Callable[[str], bool]) -> Iterator[OffsetRow]:
        refused: bytes | None = None  # of a group: its rows are neighbours
        for key, value in self._state.scan(OFFSETS):
            if refused is not None and key.startswith(refused):
                continue
            row = offset_row(key, value)
            if includes(row[0]):
                yield row
            else:
                refused = key[: _LENGTH.size + _LENGTH.unpack_from(key)[0]]

    def apply(
        self, writes: Sequence[OffsetWrite], done: Callable[[StorageFailed | None], None]
    ) -> None:
        index = _PARTITION.pack
        rows: list[RowChange] = []
        last_group = last_topic = None
        prefix = b""
        for group_id, topic, partition, committed in writes:
            if topic is not last_topic or group_id is not last_group:
                last_group, last_topic = group_id, topic
                prefix = _prefix(group_id, topic)
            value = None if committed is None else offset_value(committed)
            rows.append((prefix + index(partition), value))
        self._state.put_all(OFFSETS, rows)
        self._when_committed(done)

    apply_with_log = apply

    def close(self) -> None:
        """The store itself is closed by its owner."""


def _prefix(group_id: str, topic: str) -> bytes:
    group, name = group_id.encode(), topic.encode()
    return b"".join((_LENGTH.pack(len(group)), group, _LENGTH.pack(len(name)), name))


def offset_key(group_id: str, topic: str, partition: int) -> bytes:
    return _prefix(group_id, topic) + _PARTITION.pack(partition)


def offset_value(committed: CommittedOffset) -> bytes:
    expires = committed.expire_timestamp_ms
    fixed = _VALUE.pack(
        committed.offset,
        committed.leader_epoch,
        committed.commit_timestamp_ms,
        _NEVER if expires is None else expires,
        committed.topic_id,
    )
    return fixed + committed.metadata.encode() if committed.metadata else fixed


def group_of_offset(key: bytes) -> str:
    return key[_LENGTH.size : _LENGTH.size + _LENGTH.unpack_from(key)[0]].decode()


def offset_row(key: bytes, value: bytes) -> OffsetRow:
    try:
        group_end = _LENGTH.size + _LENGTH.unpack_from(key)[0]
        topic_start = group_end + _LENGTH.size
        topic_end = topic_start + _LENGTH.unpack_from(key, group_end)[0]
        group_id = key[_LENGTH.size : group_end].decode()
        topic = key[topic_start:topic_end].decode()
        (partition,) = _PARTITION.unpack(key[topic_end:])
        offset, leader_epoch, committed_ms, expires_ms, topic_id = _VALUE.unpack_from(value)
        committed = CommittedOffset(
            offset,
            leader_epoch,
            value[_VALUE.size :].decode(),
            committed_ms,
            None if expires_ms == _NEVER else expires_ms,
            topic_id,
        )
    except (ValueError, StructError) as damage:
        raise StorageFailed(
            f"The store could not read a committed offset's row {key!r}: {damage!r}"
        ) from damage
    return group_id, topic, partition, committed
