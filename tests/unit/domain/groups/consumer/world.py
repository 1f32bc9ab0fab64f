"""A consumer group and topics, for tests that send heartbeats."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from domain.groups.consumer.draft import Draft
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import (
    GroupContext,
    HeartbeatResult,
    beat,
    respond_if_unchanged,
)
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.consumer.leave import leave_static, leaving_member, remove
from domain.groups.consumer.member import JOINS, LEAVES, LEAVES_STATIC
from domain.groups.consumer.target import GroupRules
from domain.groups.group import Decision, GroupChange
from domain.topics.topic import Topic


class WorldTopics:
    def __init__(self) -> None:
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        self.topic = self._by_name.get
        self.topic_by_id = self._by_id.get
        self.layout_revision = 0
        self._ids = 0

    def put(self, name: str, partitions: int) -> None:
        before = self._by_name.get(name)
        if before is None:
            self._ids += 1
        topic_id = self._ids.to_bytes(16, "big") if before is None else before.topic_id
        topic = Topic(name, topic_id, tuple(range(partitions)), {})
        self._by_name[name] = self._by_id[topic_id] = topic
        self.layout_revision += 1

    def remove(self, name: str) -> None:
        del self._by_id[self._by_name.pop(name).topic_id]
        self.layout_revision += 1

    def matching(self, regex: str) -> frozenset[str]:
        return frozenset(name for name in self._by_name if re.fullmatch(regex, name))


class WorldRegexes:
    is_complete = True

    def __init__(self, topics: WorldTopics) -> None:
        self._topics = topics

    def check(self, regex: str) -> None:
        re.compile(regex)

    def resolve(self, regexes: Collection[str]) -> dict[str, frozenset[str]]:
        return {regex: self._topics.matching(regex) for regex in regexes}


class World:
    def __init__(self, max_size: int = 100, assignors: tuple[str, ...] = ("uniform", "range"),
                 **topics: int) -> None:  # fmt: skip
        self.topics = WorldTopics()
        for name, partitions in topics.items():
            self.topics.put(name, partitions)
        self.group = ConsumerGroup("g")
        self.rules = GroupRules(max_size, assignors, True, True, max_size)
        self.changes: list[GroupChange] = []

    def _context(self) -> GroupContext:
        return GroupContext(self.topics, WorldRegexes(self.topics), self.rules)

    def send(self, heartbeat: Heartbeat) -> HeartbeatResult:
        """Applies the changes of a heartbeat, and returns its response."""
        context = self._context()
        response = respond_if_unchanged(self.group, heartbeat, context)
        decision = Decision(response=response)
        if response is None:
            decision = beat(Draft(self.group), heartbeat, context)
        result = self._take(decision)
        self.group.topics_seen(self.topics.layout_revision)
        return result

    def _take(self, decision: Decision) -> HeartbeatResult:
        self.changes = [*decision.changes]
        for change in decision.changes:
            self.group.apply(change)
        response: HeartbeatResult = decision.response
        return response

    def join(self, member_id: str, *topics: str, **fields: Any) -> HeartbeatResult:
        fields.setdefault("rebalance_timeout_ms", 60_000)
        names = frozenset(topics) if topics or "regex" not in fields else None
        return self.send(Heartbeat(member_id, JOINS, topics=names, owned={}, **fields))

    def beat(self, member_id: str, epoch: int | None = None, **fields: Any) -> HeartbeatResult:
        known = self.group.current(member_id).epoch
        return self.send(Heartbeat(member_id, known if epoch is None else epoch, **fields))

    def acknowledge(self, member_id: str) -> HeartbeatResult:
        """Sends the assignment as owned partitions."""
        return self.beat(member_id, owned=self.group.current(member_id).assigned)

    def leave(self, member_id: str, instance_id: str | None = None) -> None:
        heartbeat = Heartbeat(member_id, LEAVES, instance_id)
        member = leaving_member(self.group, heartbeat)
        self._take(remove(self.group, [member.member_id], self.topics))

    def leave_static(self, member_id: str, instance_id: str) -> HeartbeatResult:
        heartbeat = Heartbeat(member_id, LEAVES_STATIC, instance_id)
        return self._take(leave_static(self.group, leaving_member(self.group, heartbeat)))

    def settle(self) -> None:
        """All members acknowledge their assignments until nothing changes."""
        for _ in range(20):
            before = (dict(self.group.currents), self.group.epoch)
            for member_id in sorted(self.group.members):
                if self.group.current(member_id).epoch >= 0:
                    self.acknowledge(member_id)
            if before == (self.group.currents, self.group.epoch):
                return
        raise AssertionError("the group does not become stable")

    def named(self, partitions: Mapping[bytes, Iterable[int]] | None) -> dict[str, list[int]]:
        """Partitions by topic name."""
        assert partitions is not None
        found = {topic_id: self.topics.topic_by_id(topic_id) for topic_id in partitions}
        return {
            "?" if topic is None else topic.name: sorted(partitions[topic_id])
            for topic_id, topic in found.items()
        }

    def has(self, member_id: str) -> dict[str, list[int]]:
        return self.named(self.group.current(member_id).assigned)
