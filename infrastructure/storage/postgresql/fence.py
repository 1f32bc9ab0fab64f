"""Fence: the condition of every change: the row of the broker in ottla_fences is as it was left."""

from __future__ import annotations

from typing import Any, NamedTuple

from psycopg.types.numeric import Int4, Int8

#: In place of a node id: of a process that has the store alone.
ALONE = -1


class Fence(NamedTuple):
    node_id: int
    session: int
    #: The number of the newest commit.
    seq: int
    #: The ctid of the row: a long transaction of another client keeps all versions of it, which a
    #: search by key would look through.
    place: str


#: A part of a statement. Its rows: the new place, and the current tail.
FENCE = (
    "fence as (update ottla_fences set seq = %b"
    " where ctid = %b::text::tid and node_id = %b and session = %b and seq = %b"
    " returning ctid::text as place, tail)"
)


def fence_parameters(fence: Fence) -> list[Any]:
    return [
        Int8(fence.seq + 1),
        fence.place,
        Int4(fence.node_id),
        Int8(fence.session),
        Int8(fence.seq),
    ]
