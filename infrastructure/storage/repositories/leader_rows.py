"""Rows of the table `leaders`: for engines, which have to know what this broker leads."""

from __future__ import annotations

from struct import Struct

LEADERS = "leaders"
_LEADER = Struct(">i")


def leader_of(row: bytes) -> int:
    """Its node id, which the row begins with."""
    leader: int = _LEADER.unpack_from(row)[0]
    return leader
