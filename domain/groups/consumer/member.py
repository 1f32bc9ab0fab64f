"""A member of a consumer group, in two values.

MemberSubscription   its identity and subscription: changes when the client says so
CurrentAssignment    its epoch and its partitions: changes with every step of a rebalance
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from domain.groups.consumer.assignors.assignor import NO_PARTITIONS, Partitions

#: What a member sends for its epoch when it joins, leaves, or leaves for a while.
JOINS = 0
LEAVES = -1
LEAVES_STATIC = -2


class MemberState(Enum):
    STABLE = "stable"
    #: It must give partitions up and has not confirmed yet that it did.
    UNREVOKED_PARTITIONS = "unrevoked_partitions"
    #: It waits for partitions that others have not given up yet.
    UNRELEASED_PARTITIONS = "unreleased_partitions"


class ClassicMembership(NamedTuple):
    """What is known of a member that speaks the classic protocol in a consumer group."""

    session_timeout_ms: int
    #: Names of assignors with the metadata that the member sent for each, in its order.
    protocols: tuple[tuple[str, bytes], ...]


class MemberSubscription(NamedTuple):
    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    topics: frozenset[str] = frozenset()
    #: None and "" both mean that there is none; a client may say either.
    regex: str | None = None
    classic: ClassicMembership | None = None


class CurrentAssignment(NamedTuple):
    state: MemberState = MemberState.STABLE
    epoch: int = 0
    previous_epoch: int = 0
    assigned: Partitions = NO_PARTITIONS
    #: It is to give these up; until it has, they are its own.
    revoking: Partitions = NO_PARTITIONS

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == target_epoch

    def at_epoch(self, epoch: int) -> CurrentAssignment:
        return self._replace(epoch=epoch, previous_epoch=self.epoch)


def without_partitions(partitions: Partitions, taken: Partitions) -> Partitions:
    rest = {
        topic_id: ones - taken.get(topic_id, frozenset()) for topic_id, ones in partitions.items()
    }
    return {topic_id: ones for topic_id, ones in rest.items() if ones}


def common_partitions(some: Partitions, others: Partitions) -> Partitions:
    both = {topic_id: ones & others.get(topic_id, frozenset()) for topic_id, ones in some.items()}
    return {topic_id: ones for topic_id, ones in both.items() if ones}


def all_partitions(some: Partitions, others: Partitions) -> Partitions:
    joined = dict(some)
    for topic_id, ones in others.items():
        joined[topic_id] = joined.get(topic_id, frozenset()) | ones
    return joined


def holds_any(partitions: Partitions, of: Partitions) -> bool:
    return any(not ones.isdisjoint(of.get(topic_id, ())) for topic_id, ones in partitions.items())


def is_within(partitions: Partitions, whole: Partitions) -> bool:
    return all(ones <= whole.get(topic_id, frozenset()) for topic_id, ones in partitions.items())
