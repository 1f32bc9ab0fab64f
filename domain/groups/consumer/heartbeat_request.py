"""Heartbeat: what a member says in one request, and which of it contradicts itself.

None is "as I said before", except for `member_id`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from domain.errors import InvalidRequest, UnsupportedAssignor
from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.member import JOINS, LEAVES, LEAVES_STATIC, MemberSubscription

NOT_SENT = -1


class Heartbeat(NamedTuple):
    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = NOT_SENT
    topics: frozenset[str] | None = None
    regex: str | None = None
    server_assignor: str | None = None
    #: The partitions that the member has.
    owned: Partitions | None = None
    client_id: str = ""
    client_host: str = ""

    @property
    def leaves(self) -> bool:
        return self.epoch in (LEAVES, LEAVES_STATIC)

    @property
    def is_full(self) -> bool:
        """The member says everything again: it may have missed an answer."""
        return (
            self.rebalance_timeout_ms != NOT_SENT
            and (self.topics is not None or self.regex is not None)
            and self.owned is not None
        )

    def applied_to(self, member: MemberSubscription) -> MemberSubscription:
        said: dict[str, object] = {
            "instance_id": self.instance_id,
            "rack_id": self.rack_id,
            "rebalance_timeout_ms": _unless_not_sent(self.rebalance_timeout_ms),
            "server_assignor": self.server_assignor,
            "topics": self.topics,
            "regex": self.regex,
        }
        return member._replace(
            client_id=self.client_id,
            client_host=self.client_host,
            classic=None,
            **{name: value for name, value in said.items() if value is not None},  # type: ignore[arg-type]
        )


def _unless_not_sent(timeout_ms: int) -> int | None:
    return None if timeout_ms == NOT_SENT else timeout_ms


def check_heartbeat(
    group_id: str, heartbeat: Heartbeat, members_make_ids: bool, assignors: Collection[str]
) -> None:
    """In Kafka's order, with Kafka's words."""
    epoch = heartbeat.epoch
    if members_make_ids or epoch > 0 or epoch == LEAVES:
        _check_not_blank(heartbeat.member_id, "MemberId can't be empty.")
    _check_not_blank(group_id, "GroupId can't be empty.")
    _check_not_blank(heartbeat.instance_id, "InstanceId can't be empty.")
    _check_not_blank(heartbeat.rack_id, "RackId can't be empty.")
    if epoch == JOINS:
        _check_joining(heartbeat)
    elif epoch == LEAVES_STATIC:
        if heartbeat.instance_id is None:
            raise InvalidRequest("InstanceId can't be null.")
    elif epoch < LEAVES_STATIC:
        raise InvalidRequest("MemberEpoch is invalid.")
    name = heartbeat.server_assignor
    if name is not None and name not in assignors:
        raise UnsupportedAssignor(
            f"ServerAssignor {name} is not supported. Supported assignors: {', '.join(assignors)}."
        )


def _check_joining(heartbeat: Heartbeat) -> None:
    if heartbeat.rebalance_timeout_ms == NOT_SENT:
        raise InvalidRequest("RebalanceTimeoutMs must be provided in first request.")
    if heartbeat.owned is None or heartbeat.owned:
        raise InvalidRequest("TopicPartitions must be empty when (re-)joining.")
    if heartbeat.topics is None and heartbeat.regex is None:
        raise InvalidRequest(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining."
        )


def _check_not_blank(text: str | None, message: str) -> None:
    if text is not None and not text.strip():
        raise InvalidRequest(message)
