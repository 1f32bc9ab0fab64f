"""Rows of the table `leaders`: for engines, which have to know what this broker leads."""

from __future__ import annotations

from struct import Struct

from domain.cluster.nodes import NO_LEADER

LEADERS = "leaders"
_LEADER = Struct(">i")
_LEADER_AND_EPOCH = Struct(">ii")


def key_of(partition_id: int) -> bytes:
    return partition_id.to_bytes(4, "big")


def partition_id_of(key: bytes) -> int:
    return int.from_bytes(key, "big")


def leader_of(row: bytes) -> int:
    """Its node id, which the row begins with; of a damaged row none."""
    leader: int = _LEADER.unpack_from(row)[0] if len(row) >= _LEADER.size else NO_LEADER.node_id
    return leader


def epoch_of(row: bytes) -> int:
    """The leader epoch; of a damaged row none."""
    if len(row) < _LEADER_AND_EPOCH.size:
        return NO_LEADER.epoch
    _, epoch = _LEADER_AND_EPOCH.unpack_from(row)
    return int(epoch)
