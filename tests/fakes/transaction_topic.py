"""The records of __transaction_state in a broker of this process, decoded without our encoder."""

from __future__ import annotations

import struct
from typing import NamedTuple

from domain.topics.topic import TRANSACTION_TOPIC
from tests.fakes.broker import FakeBroker
from tests.fakes.offsets_topic import keyed_records

EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = range(6)


class Written(NamedTuple):
    """None: a tombstone."""

    transactional_id: str
    status: int | None
    epoch: int = 0
    topics: tuple[str, ...] = ()


def states_of(fake: FakeBroker) -> list[Written]:
    """All records of all partitions; those of a transactional id are in order."""
    return [decoded(key, value) for key, value in keyed_records(fake, TRANSACTION_TOPIC)]


def decoded(key: bytes, value: bytes | None) -> Written:
    version, size = struct.unpack_from(">hh", key)
    transactional_id = key[4:].decode()
    assert (version, size) == (0, len(key) - 4)
    if value is None:
        return Written(transactional_id, None)
    version, _producer_id, epoch, _timeout, status = struct.unpack_from(">hqhib", value)
    assert version == 1
    topics, at = [], 18
    for _ in range(value[17] - 1 if value[17] else 0):
        end = at + value[at]
        topics.append(value[at + 1 : end].decode())
        at = end + 1 + 4 * (value[end] - 1) + 1
    return Written(transactional_id, status, epoch, tuple(topics))
