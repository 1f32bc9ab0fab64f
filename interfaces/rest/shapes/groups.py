"""Consumer groups as JSON, in the shapes of Confluent's v3."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator
from typing_extensions import TypedDict

from application.groups.lag import PartitionLag
from application.groups.reset import Reset, ResetStrategy, ResetTarget
from domain.groups.group import Group, GroupMember
from interfaces.rest.faults import expected
from interfaces.rest.shapes.common import ListMetadata, Related, RequestModel, Resource, resource
from interfaces.rest.shapes.topics import Int32
from interfaces.rest.urls import Urls

Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]


Timestamp = Annotated[
    Annotated[Int64, Field(ge=0)] | AwareDatetime,
    expected("milliseconds since 1970, or a time with its zone as 2026-11-22T05:00:00Z"),
]


class OfGroup(Resource):
    consumer_group_id: str


class GroupBody(OfGroup):
    is_simple: bool
    partition_assignor: str
    #: STABLE, EMPTY, PREPARING_REBALANCE, COMPLETING_REBALANCE, ASSIGNING, RECONCILING, DEAD
    state: str
    #: classic or consumer
    type: str
    members_count: int
    coordinator: Related
    consumers: Related
    lag_summary: Related


class ConsumerBody(OfGroup):
    consumer_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    assignments: Related


class AssignmentBody(OfGroup):
    consumer_id: str
    topic_name: str
    partition_id: int
    partition: Related
    lag: Related


class LagBody(OfGroup):
    topic_name: str
    partition_id: int
    current_offset: int
    #: null: the log cannot be read.
    log_end_offset: int | None
    lag: int | None
    #: Empty: the partition is assigned to no member.
    consumer_id: str
    instance_id: str | None
    client_id: str


class LagSummaryBody(OfGroup):
    max_lag_consumer_id: str
    max_lag_instance_id: str | None
    max_lag_client_id: str
    max_lag_topic_name: str
    max_lag_partition_id: int
    max_lag: int
    total_lag: int
    max_lag_consumer: Related
    max_lag_partition: Related


def group_body(group: Group, assignor: str, node_id: int, urls: Urls) -> GroupBody:
    url = urls("consumer-groups", group.group_id)
    return {
        **resource("KafkaConsumerGroup", urls, "consumer-groups", group.group_id),
        "consumer_group_id": group.group_id,
        "is_simple": not group.protocol_type,
        "partition_assignor": assignor,
        "state": as_constant(group.state_name),
        "type": group.kind.value,
        "members_count": len(group.members),
        "coordinator": {"related": urls("brokers", node_id)},
        "consumers": {"related": f"{url}/consumers"},
        "lag_summary": {"related": f"{url}/lag-summary"},
    }


def as_constant(state: str) -> str:
    """PreparingRebalance, as Confluent's server writes it: PREPARING_REBALANCE."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", state).upper()


def consumer_body(group_id: str, member: GroupMember, urls: Urls) -> ConsumerBody:
    path = ("consumer-groups", group_id, "consumers", member.member_id)
    return {
        **resource("KafkaConsumer", urls, *path),
        "consumer_group_id": group_id,
        "consumer_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "assignments": {"related": urls(*path, "assignments")},
    }


def assignment_body(
    group_id: str, member_id: str, topic: str, partition: int, urls: Urls
) -> AssignmentBody:
    group, place = ("consumer-groups", group_id), (topic, "partitions", partition)
    path = (*group, "consumers", member_id, "assignments", *place)
    return {
        **resource("KafkaConsumerAssignment", urls, *path),
        "consumer_group_id": group_id,
        "consumer_id": member_id,
        "topic_name": topic,
        "partition_id": partition,
        "partition": {"related": urls("topics", *place)},
        "lag": {"related": urls(*group, "lags", *place)},
    }


def lag_body(group_id: str, lag: PartitionLag, urls: Urls) -> LagBody:
    path = ("consumer-groups", group_id, "lags", lag.topic, "partitions", lag.partition)
    member = lag.member
    return {
        **resource("KafkaConsumerLag", urls, *path),
        "consumer_group_id": group_id,
        "topic_name": lag.topic,
        "partition_id": lag.partition,
        "current_offset": lag.current_offset,
        "log_end_offset": lag.log_end_offset,
        "lag": lag.lag,
        "consumer_id": "" if member is None else member.member_id,
        "instance_id": None if member is None else member.instance_id,
        "client_id": "" if member is None else member.client_id,
    }


def lag_summary_body(group_id: str, lags: list[PartitionLag], urls: Urls) -> LagSummaryBody:
    """Of at least one partition. Of several with the same lag the first one is the maximum."""
    largest = lag_body(group_id, max(lags, key=lambda one: one.lag or 0), urls)
    topic, partition = largest["topic_name"], largest["partition_id"]
    consumer_id = largest["consumer_id"]
    # Without such a consumer the link leads to all consumers of the group.
    consumer = [consumer_id] if consumer_id else []
    group = ("consumer-groups", group_id)
    return {
        **resource("KafkaConsumerGroupLagSummary", urls, *group, "lag-summary"),
        "consumer_group_id": group_id,
        "max_lag_consumer_id": consumer_id,
        "max_lag_instance_id": largest["instance_id"],
        "max_lag_client_id": largest["client_id"],
        "max_lag_topic_name": topic,
        "max_lag_partition_id": partition,
        "max_lag": largest["lag"] or 0,
        "total_lag": sum(one.lag or 0 for one in lags),
        "max_lag_consumer": {"related": urls(*group, "consumers", *consumer)},
        "max_lag_partition": {"related": urls("topics", topic, "partitions", partition)},
    }


# ---- resetting offsets

#: Words of the command line, which REST takes too.
_WORDS = {"start": "earliest", "end": "latest"}


class SetOffsets(RequestModel):
    """Without a topic: every partition for which the group has committed an offset."""

    topic: str | None = None
    partitions: Annotated[list[Int32], Field(min_length=1)] | None = None
    to: Annotated[
        Literal["earliest", "latest", "start", "end", "offset", "timestamp", "shift_by"],
        Field(description="start is another word for earliest, and end for latest."),
    ]
    offset: Annotated[Int64, Field(ge=0)] | None = None
    #: Milliseconds, or ISO 8601 with a zone.
    timestamp: Timestamp | None = None
    shift_by: Int64 | None = None
    dry_run: bool = False

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        for name in ("offset", "timestamp", "shift_by"):
            is_set = getattr(self, name) is not None
            if is_set != (self.to == name):
                verb = "goes with" if is_set else "is needed with"
                raise ValueError(f"{name} {verb} to={name!r}")
        return self

    @property
    def target(self) -> ResetTarget:
        value = getattr(self, self.to, None)
        if isinstance(value, datetime):
            value = int((value - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)
        return ResetTarget(ResetStrategy(_WORDS.get(self.to, self.to)), value or 0)


class ResetBody(TypedDict):
    topic_name: str
    partition_id: int
    #: null: no offset was committed.
    before: int | None
    after: int
    log_start_offset: int
    log_end_offset: int


class ResetList(TypedDict):
    kind: str
    metadata: ListMetadata
    consumer_group_id: str
    dry_run: bool
    data: list[ResetBody]


def reset_body(reset: Reset) -> ResetBody:
    return {
        "topic_name": reset.topic,
        "partition_id": reset.partition,
        "before": reset.before,
        "after": reset.after,
        "log_start_offset": reset.start,
        "log_end_offset": reset.end,
    }
