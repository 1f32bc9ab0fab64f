"""What is appended to the internal topics after they were created: the rows of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from application.groups.offsets import Offsets
from application.groups.offsets_topic import OffsetsTopic
from application.groups.registry import Groups
from application.ports.offset_repository import OffsetWrite
from application.topics.internal_topics import parts_of
from application.transactions.registry import TransactionRegistry
from application.transactions.state_topic import TransactionsInTopic
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.states import State


class OffsetsAndGroups:
    """Of __consumer_offsets."""

    def __init__(self, topic: OffsetsTopic, offsets: Offsets, groups: Groups) -> None:
        self._topic = topic
        self._offsets = offsets
        self._groups = groups

    def on_loaded(self, call: Callable[[], None]) -> None:
        self._offsets.on_loaded(call)

    def parts(self) -> Iterator[Callable[[], None]]:
        for keys in parts_of(self._offset_keys()):
            yield partial(self._append_offsets, keys)
        for group_ids in parts_of([group.group_id for group in self._groups]):
            yield partial(self._append_groups, group_ids)

    def _offset_keys(self) -> Iterator[tuple[str, str, int]]:
        for group_id in [group.group_id for group in self._groups]:
            for topic, partition in self._offsets.partitions(group_id):
                yield group_id, topic, partition

    def _append_offsets(self, keys: list[tuple[str, str, int]]) -> None:
        """A later commit has appended its own record, and a deletion its tombstone."""
        newest: list[OffsetWrite] = [(*key, self._offsets.newest(*key)) for key in keys]
        self._topic.append_offsets(write for write in newest if write[3] is not None)

    def _append_groups(self, group_ids: list[str]) -> None:
        """A group that rebalances appends its next generation."""
        for group_id in group_ids:
            group = ClassicGroup.of(self._groups.find(group_id))
            if group is None or group.since_ms is None or not group.is_persisted:
                continue
            if group.state in (State.EMPTY, State.STABLE):
                self._topic.append_group(group_id, group.image(group.since_ms))


class Transactions:
    """Of __transaction_state."""

    def __init__(self, topic: TransactionsInTopic, registry: TransactionRegistry) -> None:
        self._topic = topic
        self._registry = registry

    def on_loaded(self, call: Callable[[], None]) -> None:
        call()

    def parts(self) -> Iterator[Callable[[], None]]:
        for ids in parts_of([one.transactional_id for one in self._registry]):
            yield partial(self._append, ids)

    def _append(self, transactional_ids: list[str]) -> None:
        for transactional_id in transactional_ids:
            transaction = self._registry.find(transactional_id)
            if transaction is not None:
                self._topic.append(transactional_id, transaction)
