"""Registrations of partitions as rows, the same for every engine that brokers share.

leaders         partition id -> leader, leader epoch, the number of replicas, replicas, target

All numbers have 4 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct, error, pack, unpack

from application.ports.registration_repository import RegistrationChange
from application.ports.state_store import StateStore
from domain.cluster.registration import PartitionRegistration
from domain.errors import StorageFailed

_LEADERS = "leaders"
_PARTITION_ID = Struct(">I")
_NUMBER_BYTES = 4


class StoredRegistrationRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(self) -> Iterator[tuple[int, PartitionRegistration]]:
        for key, row in self._state.scan(_LEADERS):
            yield _partition_id(key), _decode(key, row)

    def save(self, changes: Sequence[RegistrationChange]) -> None:
        self._state.put_all(
            _LEADERS,
            [
                (_PARTITION_ID.pack(partition_id), None if one is None else _encode(one))
                for partition_id, one in changes
            ],
        )

    def follow(self, changed: Callable[[Sequence[RegistrationChange]], None]) -> None:
        def rows_changed(keys: Sequence[bytes]) -> None:
            changed([(_partition_id(key), self._find(key)) for key in keys])

        self._state.follow(_LEADERS, rows_changed)

    def _find(self, key: bytes) -> PartitionRegistration | None:
        row = self._state.get(_LEADERS, key)
        return None if row is None else _decode(key, row)


def _partition_id(key: bytes) -> int:
    partition_id: int = _PARTITION_ID.unpack(key)[0]
    return partition_id


def _encode(one: PartitionRegistration) -> bytes:
    numbers = (one.leader, one.leader_epoch, len(one.replicas), *one.replicas, *one.target)
    return pack(f">{len(numbers)}i", *numbers)


def _decode(key: bytes, row: bytes) -> PartitionRegistration:
    try:
        leader, epoch, count, *nodes = unpack(f">{len(row) // _NUMBER_BYTES}i", row)
    except (error, ValueError) as damage:
        raise StorageFailed(
            f"The store could not read the leader of partition {_partition_id(key)}: {damage!r}"
        ) from damage
    return PartitionRegistration(tuple(nodes[:count]), leader, epoch, tuple(nodes[count:]))
