"""Reads the broker's own topics: groups and offsets, transactions. Raises FolderRefused."""

from __future__ import annotations

from collections.abc import Iterator

from domain.errors import BrokerError
from domain.messages.batch import RecordBatch
from domain.messages.message import Message
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from domain.transactions.state_record import read_transaction, read_transactional_id
from domain.transactions.states import State
from domain.transactions.transaction import Transaction
from infrastructure.kafka_folder.folder import KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.kafka_folder.segment import messages_of
from interfaces.cli.kafka_import.group_image import GroupImage


def read_groups(folder: KafkaFolder) -> GroupImage:
    image = GroupImage()
    for batch, records, where in _batches(folder, OFFSETS_TOPIC):
        try:
            image.replay_marker(batch)
            for record in records:
                image.replay(batch, record)
        except BrokerError as damage:
            raise FolderRefused(f"{where}: {damage.message}") from None
    return image


def read_transactions(folder: KafkaFolder, groups: GroupImage) -> dict[str, Transaction]:
    """By transactional id. Of the groups of open ones those are known that have offsets in it."""
    found: dict[str, Transaction] = {}
    for _, records, where in _batches(folder, TRANSACTION_TOPIC):
        for record in records:
            try:
                transactional_id = read_transactional_id(record.key or b"")
                found.pop(transactional_id, None)
                if record.value is not None:
                    read = read_transaction(transactional_id, record.value)
                    found[transactional_id] = _with_groups(read, groups)
            except BrokerError as damage:
                raise FolderRefused(f"{where}: {damage.message}") from None
    return {name: one for name, one in found.items() if one.state is not State.DEAD}


def _with_groups(one: Transaction, image: GroupImage) -> Transaction:
    groups = {group for group, _, _ in image.pending.get(one.producer_id, ())}
    partitions = frozenset(place for place in one.partitions if place[0] != OFFSETS_TOPIC)
    is_open = one.is_open or one.is_prepared
    return one._replace(partitions=partitions, groups=frozenset(groups if is_open else ()))


def _batches(folder: KafkaFolder, topic: str) -> Iterator[tuple[RecordBatch, list[Message], str]]:
    """Of all partitions, with the decoded records, if they are no markers, and where they are."""
    for place in sorted(one for one in folder.partitions if one[0] == topic):
        log = folder.log(place)
        end_offset = log.base_offset
        for segment, batch in log.batches():
            where = f"{segment.path}, offset {batch.base_offset}"
            try:
                records = messages_of(batch)
            except BrokerError as damage:
                raise FolderRefused(f"{where}: {damage.message}") from None
            yield batch, records, where
            end_offset = batch.last_offset + 1
        folder.check_end(place, log, end_offset)
