"""Consumer groups as JSON, in Confluent's v3 shapes."""

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
from interfaces.rest.shapes.common import Asked, ListMetadata, Metadata, Related, resource
from interfaces.rest.shapes.topics import Int32
from interfaces.rest.urls import Urls

Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]


Moment = Annotated[
    Annotated[Int64, Field(ge=0)] | AwareDatetime,
    expected("milliseconds since 1970, or a time with its zone as 2026-11-22T05:00:00Z"),
]


class GroupBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    consumer_group_id: str
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


class GroupList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[GroupBody]


def group_body(
    group: Group, assignor: str, members_count: int, node_id: int, urls: Urls
) -> GroupBody:
    url = urls("consumer-groups", group.group_id)
    return {
        "kind": "KafkaConsumerGroup",
        "metadata": {
            "self": url,
            "resource_name": resource(urls.cluster_id, ("consumer-group", group.group_id)),
        },
        "cluster_id": urls.cluster_id,
        "consumer_group_id": group.group_id,
        "is_simple": not group.protocol_type,
        "partition_assignor": assignor,
        "state": as_constant(group.state_name),
        "type": group.kind.value,
        "members_count": members_count,
        "coordinator": {"related": urls("brokers", node_id)},
        "consumers": {"related": f"{url}/consumers"},
        "lag_summary": {"related": f"{url}/lag-summary"},
    }


def as_constant(state: str) -> str:
    """PreparingRebalance, as Confluent's server writes it: PREPARING_REBALANCE."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", state).upper()


class ConsumerBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    consumer_group_id: str
    consumer_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    assignments: Related


class ConsumerList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[ConsumerBody]


def consumer_body(group_id: str, member: GroupMember, urls: Urls) -> ConsumerBody:
    url = urls("consumer-groups", group_id, "consumers", member.member_id)
    name = resource(urls.cluster_id, ("consumer-group", group_id), ("consumer", member.member_id))
    return {
        "kind": "KafkaConsumer",
        "metadata": {"self": url, "resource_name": name},
        "cluster_id": urls.cluster_id,
        "consumer_group_id": group_id,
        "consumer_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "assignments": {"related": f"{url}/assignments"},
    }


class AssignmentBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    consumer_group_id: str
    consumer_id: str
    topic_name: str
    partition_id: int
    partition: Related
    lag: Related


class AssignmentList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[AssignmentBody]


def assignment_body(
    group_id: str, member_id: str, topic: str, partition: int, urls: Urls
) -> AssignmentBody:
    group, place = ("consumer-groups", group_id), (topic, "partitions", partition)
    name = resource(
        urls.cluster_id,
        ("consumer-group", group_id),
        ("consumer", member_id),
        ("assignment", topic),
        ("partition", partition),
    )
    return {
        "kind": "KafkaConsumerAssignment",
        "metadata": {
            "self": urls(*group, "consumers", member_id, "assignments", *place),
            "resource_name": name,
        },
        "cluster_id": urls.cluster_id,
        "consumer_group_id": group_id,
        "consumer_id": member_id,
        "topic_name": topic,
        "partition_id": partition,
        "partition": {"related": urls("topics", *place)},
        "lag": {"related": urls(*group, "lags", *place)},
    }


class LagBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    consumer_group_id: str
    topic_name: str
    partition_id: int
    current_offset: int
    #: null: the log cannot be read.
    log_end_offset: int | None
    lag: int | None
    #: Empty: nobody reads it now.
    consumer_id: str
    instance_id: str | None
    client_id: str


class LagList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[LagBody]


def lag_body(group_id: str, lag: PartitionLag, urls: Urls) -> LagBody:
    place = (lag.topic, "partitions", lag.partition)
    member = lag.member
    name = resource(
        urls.cluster_id,
        ("consumer-group", group_id),
        ("lag", lag.topic),
        ("partition", lag.partition),
    )
    return {
        "kind": "KafkaConsumerLag",
        "metadata": {
            "self": urls("consumer-groups", group_id, "lags", *place),
            "resource_name": name,
        },
        "cluster_id": urls.cluster_id,
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


class LagSummaryBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    consumer_group_id: str
    max_lag_consumer_id: str
    max_lag_instance_id: str | None
    max_lag_client_id: str
    max_lag_topic_name: str
    max_lag_partition_id: int
    max_lag: int
    total_lag: int
    max_lag_consumer: Related
    max_lag_partition: Related


def lag_summary_body(group_id: str, lags: list[PartitionLag], urls: Urls) -> LagSummaryBody:
    """Of at least one; the worst is the first of those that are equally bad."""
    worst = max(lags, key=lambda one: one.lag or 0)
    member_id = "" if worst.member is None else worst.member.member_id
    # Where nobody reads it, all who do.
    reader = [member_id] if member_id else []
    url = urls("consumer-groups", group_id)
    name = resource(urls.cluster_id, ("consumer-group", group_id))
    return {
        "kind": "KafkaConsumerGroupLagSummary",
        "metadata": {"self": f"{url}/lag-summary", "resource_name": f"{name}/lag-summary"},
        "cluster_id": urls.cluster_id,
        "consumer_group_id": group_id,
        "max_lag_consumer_id": member_id,
        "max_lag_instance_id": None if worst.member is None else worst.member.instance_id,
        "max_lag_client_id": "" if worst.member is None else worst.member.client_id,
        "max_lag_topic_name": worst.topic,
        "max_lag_partition_id": worst.partition,
        "max_lag": worst.lag or 0,
        "total_lag": sum(one.lag or 0 for one in lags),
        "max_lag_consumer": {"related": urls("consumer-groups", group_id, "consumers", *reader)},
        "max_lag_partition": {
            "related": urls("topics", worst.topic, "partitions", worst.partition)
        },
    }


# ---- setting offsets

#: Those of the command line, which takes ours as well.
_WORDS = {"start": "earliest", "end": "latest"}


class SetOffsets(Asked):
    """Without a topic: wherever the group has committed. `to` says which of the others counts."""

    topic: str | None = None
    partitions: Annotated[list[Int32], Field(min_length=1)] | None = None
    to: Annotated[
        Literal["earliest", "latest", "start", "end", "offset", "timestamp", "shift_by"],
        Field(description="start is another word for earliest, and end for latest."),
    ]
    offset: Annotated[Int64, Field(ge=0)] | None = None
    #: Milliseconds, or ISO 8601 with a zone.
    timestamp: Moment | None = None
    shift_by: Int64 | None = None
    dry_run: bool = False

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        values = {"offset": self.offset, "timestamp": self.timestamp, "shift_by": self.shift_by}
        for name, value in values.items():
            if (value is not None) != (self.to == name):
                verb = "goes with" if value is not None else "is needed with"
                raise ValueError(f"{name} {verb} to={name!r}")
        return self

    @property
    def target(self) -> ResetTarget:
        when = self.timestamp
        if isinstance(when, datetime):
            when = int((when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)
        value = {"offset": self.offset, "timestamp": when, "shift_by": self.shift_by}.get(self.to)
        return ResetTarget(ResetStrategy(_WORDS.get(self.to, self.to)), value or 0)


class ResetBody(TypedDict):
    topic_name: str
    partition_id: int
    #: null: nothing was committed.
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
