"""Transactions as records of __transaction_state, in the formats that Kafka 4.2 writes.

    TransactionLogKey    0  transactional id
    TransactionLogValue  0  producer id and epoch, timeout, state, partitions, last update, start
                         1  the same in a flexible version, with the version of the latest end

A record without value, a tombstone, deletes the transactional id. Kafka 4.2 fills no other tagged
field of the value; those of the producer ids before and after are read all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct, pack

from domain.errors import InvalidRecord
from domain.messages.batch import NO_PRODUCER_ID
from domain.messages.varint import varuint
from domain.topics.internal_records import Fields, Record, partition_of, string
from domain.topics.topic import OFFSETS_TOPIC
from domain.transactions.states import State
from domain.transactions.transaction import TV_0, TopicPartition, Transaction

_KEY_VERSION = b"\0\0"
#: Version, producer id, epoch, timeout, state.
_PRODUCER = Struct(">hqhib")
#: Last update, start.
_TIMES = Struct(">qq")
_INT16, _INT32 = Struct(">h"), Struct(">i")
_NO_TAGGED_FIELDS = b"\0"
_CLIENT_TRANSACTION_VERSION = b"\x01\x02\x02"

_STATUS = {
    State.EMPTY: 0,
    State.ONGOING: 1,
    State.PREPARE_COMMIT: 2,
    State.PREPARE_ABORT: 3,
    State.COMPLETE_COMMIT: 4,
    State.COMPLETE_ABORT: 5,
}


def places_of(transaction: Transaction, offsets_partitions: int) -> list[TopicPartition]:
    """Its partitions; a group is shown as its partition of __consumer_offsets, as in Kafka."""
    groups = {(OFFSETS_TOPIC, partition_of(one, offsets_partitions)) for one in transaction.groups}
    return sorted(transaction.partitions | groups)


def transaction_key(transactional_id: str) -> bytes:
    """Raises TooLong."""
    return _KEY_VERSION + string(transactional_id)


def transaction_record(
    transaction: Transaction, places: Iterable[TopicPartition], transaction_version: int
) -> Record:
    """Raises TooLong. `transaction_version`: the level of the feature."""
    key = transaction_key(transaction.transactional_id)
    topics: dict[str, list[int]] = {}
    for topic, partition in places:
        topics.setdefault(topic, []).append(partition)
    encode = _value_0 if transaction_version == TV_0 else _value_1
    return key, encode(transaction, None if transaction.state is State.EMPTY else topics)


def _value_0(transaction: Transaction, topics: dict[str, list[int]] | None) -> bytes:
    pieces = [_producer(transaction, 0), _INT32.pack(-1 if topics is None else len(topics))]
    for topic, partitions in (topics or {}).items():
        pieces += (string(topic), _INT32.pack(len(partitions)), _int32s(partitions))
    pieces.append(_times(transaction))
    return b"".join(pieces)


def _value_1(transaction: Transaction, topics: dict[str, list[int]] | None) -> bytes:
    pieces = [_producer(transaction, 1), varuint(0 if topics is None else len(topics) + 1)]
    for topic, partitions in (topics or {}).items():
        name = topic.encode()
        pieces += (varuint(len(name) + 1), name, varuint(len(partitions) + 1))
        pieces += (_int32s(partitions), _NO_TAGGED_FIELDS)
    pieces.append(_times(transaction))
    if transaction.version == TV_0:
        pieces.append(_NO_TAGGED_FIELDS)
    else:
        pieces.append(_CLIENT_TRANSACTION_VERSION + _INT16.pack(transaction.version))
    return b"".join(pieces)


def _producer(one: Transaction, version: int) -> bytes:
    return _PRODUCER.pack(version, one.producer_id, one.epoch, one.timeout_ms, _STATUS[one.state])


def _times(one: Transaction) -> bytes:
    return _TIMES.pack(one.updated_ms, one.started_ms)


def _int32s(values: list[int]) -> bytes:
    return pack(f">{len(values)}i", *values)


#: Kafka may have written that an id is dead, before its tombstone.
_STATES = {status: state for state, status in _STATUS.items()} | {6: State.DEAD}
#: The tags of the value.
_PREVIOUS_ID, _NEXT_ID, _VERSION, _NEXT_EPOCH = range(4)


def read_transactional_id(key: bytes) -> str:
    """Raises InvalidRecord."""
    fields = Fields(key)
    fields.version(0, 0)
    transactional_id = fields.words()
    fields.end()
    return transactional_id


def read_transaction(transactional_id: str, value: bytes) -> Transaction:
    """Of its groups only the partitions of __consumer_offsets are known, which it has among the
    others. Raises InvalidRecord.
    """
    fields = Fields(value)
    fields.version(0, 1, flexible=1)
    producer_id, epoch, timeout_ms, status = (fields.take(code) for code in "qhib")
    places: list[TopicPartition] = []
    for _ in range(fields.length()):
        topic = fields.words()
        places += [(topic, fields.take("i")) for _ in range(fields.length())]
        fields.tagged()
    updated_ms, started_ms = fields.take("q"), fields.take("q")
    tagged = fields.tagged()
    fields.end()
    if status not in _STATES:
        raise InvalidRecord(f"the state {status} is not known")
    if _tagged(tagged, _NEXT_EPOCH, "h", -1) > 0:
        raise InvalidRecord("the next producer id begins with an epoch above 0")
    return Transaction(
        transactional_id,
        producer_id,
        timeout_ms,
        updated_ms,
        epoch,
        previous_producer_id=_tagged(tagged, _PREVIOUS_ID, "q", NO_PRODUCER_ID),
        next_producer_id=_tagged(tagged, _NEXT_ID, "q", NO_PRODUCER_ID),
        state=_STATES[status],
        partitions=frozenset(places),
        started_ms=started_ms,
        version=_tagged(tagged, _VERSION, "h", TV_0),
    )


def _tagged(tagged: dict[int, bytes], tag: int, code: str, default: int) -> int:
    if tag not in tagged:
        return default
    fields = Fields(tagged[tag])
    value: int = fields.take(code)
    fields.end()
    return value
