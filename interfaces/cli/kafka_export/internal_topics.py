"""What __consumer_offsets and __transaction_state of an export have: the rows of the store."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.groups.classic.changes import GroupMetadataChanged
from domain.groups.classic.metadata_record import group_record
from domain.groups.consumer.changes import EpochChanged, TargetEpochChanged
from domain.groups.consumer.metadata_record import (
    GROUP_EPOCH_KEY,
    TARGET_EPOCH_KEY,
    epoch_record,
)
from domain.groups.offsets_topic import offset_records
from domain.topics.internal_records import Record, partition_of
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC, Topic
from domain.transactions.state_record import transaction_record
from infrastructure.opening import Contents
from interfaces.cli.storage.info import offsets_of

#: Kafka's defaults.
_PARTITIONS = 50
_CONFIGS = {
    OFFSETS_TOPIC: {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    },
    TRANSACTION_TOPIC: {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "segment.bytes": "104857600",
    },
}


class InternalTopic(NamedTuple):
    topic: Topic
    #: Of each partition.
    records: Mapping[int, Sequence[Record]]


def internal_topics(found: Contents, own: Mapping[str, Topic]) -> Iterator[InternalTopic]:
    """`own`: the topics of the store; they have the id and the partitions, if they are there."""
    for name, keyed in (
        (OFFSETS_TOPIC, _groups_of(found)),
        (TRANSACTION_TOPIC, _transactions_of(found)),
    ):
        topic = own.get(name)
        if topic is None:
            configs = _CONFIGS[name]
            topic = Topic(name, uuid.uuid4().bytes, tuple(range(_PARTITIONS)), configs)
        records: dict[int, list[Record]] = {}
        for key, record in keyed:
            index = partition_of(key, len(topic.partition_ids))
            records.setdefault(index, []).append(record)
        yield InternalTopic(topic, records)


def _groups_of(found: Contents) -> Iterator[tuple[str, Record]]:
    """Groups first: Kafka makes classic ones of offsets whose group it does not know."""
    for change in found.groups.load():
        group_id = change.group_id
        if isinstance(change, GroupMetadataChanged):
            yield group_id, group_record(group_id, change.image)
        elif isinstance(change, EpochChanged) and change.epoch is not None:
            yield group_id, epoch_record(GROUP_EPOCH_KEY, group_id, change.epoch)
        elif isinstance(change, TargetEpochChanged) and change.epoch is not None:
            yield group_id, epoch_record(TARGET_EPOCH_KEY, group_id, change.epoch)
    for group_id, topic, partition, committed in offsets_of(found):
        for record in offset_records(group_id, [(topic, partition, committed)]):
            yield group_id, record


def _transactions_of(found: Contents) -> Iterator[tuple[str, Record]]:
    """None is open, so they have no partitions."""
    features = found.cluster.features()
    version = 2 if features is None else features.levels.get("transaction.version", 0)
    for one in found.transactions.load():
        yield one.transactional_id, transaction_record(one, [], version)
