"""The topics of an OffsetCommit or TxnOffsetCommit request, and of its response.

Unknown partitions are first in the response, as in Kafka; an error of the group is the error of
each other partition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from application.groups.offset_commit import OffsetCommit
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    StorageFailed,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.topics.topic import Topic
from interfaces.kafka.handlers.shared.merged_topics import merged
from interfaces.kafka.requests.call import Call


class CommittedTopics:
    """The response's topics, which are complete after the commit."""

    __slots__ = (
        "_by_id",
        "_call",
        "_check",
        "_commit",
        "_known",
        "_new_topic",
        "_partition",
        "_refusal",
        "_unknown",
    )

    def __init__(
        self,
        commit: OffsetCommit,
        call: Call,
        check: Callable[[], None],
        new_topic: Callable[[Any], Any],
        partition: Callable[[int, int], Any],
        by_id: bool = False,
    ) -> None:
        """`check` raises if the group refuses; it is called once, and only if there is something to
        commit. `new_topic` makes a response topic of a requested one.
        """
        self._commit = commit
        self._call = call
        self._check = check
        self._new_topic = new_topic
        self._partition = partition
        self._by_id = by_id
        self._known: list[Any] = []
        self._unknown: dict[object, Any] = {}
        #: The error code of the group, or 0; None until it is checked.
        self._refusal: int | None = None

    def add(self, requested: Any) -> None:
        catalog = self._call.broker.catalog
        if self._by_id:
            topic = catalog.topic_by_id(requested.topic_id)
        else:
            topic = catalog.topic(requested.name)
        if topic is None:
            missing = UnknownTopicId if self._by_id else UnknownTopicOrPartition
            for one in requested.partitions:
                self._refuse(requested, one.partition_index, missing())
            return
        count = len(topic.partition_ids)
        existing = [one for one in requested.partitions if 0 <= one.partition_index < count]
        if len(existing) < len(requested.partitions):
            for one in requested.partitions:
                if not 0 <= one.partition_index < count:
                    self._refuse(requested, one.partition_index, UnknownTopicOrPartition())
        if existing:
            known = self._new_topic(requested)
            known.partitions = self._partitions(existing, topic)
            self._known.append(known)

    def _partitions(self, existing: list[Any], topic: Topic) -> list[Any]:
        code = self._refusal
        if code is None:
            code = self._refusal = self._group_refusal()
        results = [self._partition(one.partition_index, code) for one in existing]
        if not code:
            for place, refused in self._call.broker.groups.offset_commit.add(
                self._commit, topic, existing
            ):
                results[place].error_code = self._call.code(refused)
        return results

    def _group_refusal(self) -> int:
        try:
            self._check()
        except BrokerError as refused:
            return self._call.code(refused)
        return 0

    def _refuse(self, requested: Any, index: int, error: BrokerError) -> None:
        key = self._key(requested)
        topic = self._unknown.get(key)
        if topic is None:
            topic = self._unknown[key] = self._new_topic(requested)
        topic.partitions.append(self._partition(index, self._call.code(error)))

    def committed(self, failure: StorageFailed | None) -> list[Any]:
        if failure is not None:
            code = self._call.code(CoordinatorNotAvailable())
            for topic in self._known:
                for response in topic.partitions:
                    response.error_code = response.error_code or code
        return self.topics()

    def topics(self) -> list[Any]:
        return merged(self._unknown, self._known, self._key)

    def _key(self, topic: Any) -> object:
        return topic.topic_id if self._by_id else topic.name
