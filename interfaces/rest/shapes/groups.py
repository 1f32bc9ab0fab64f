"""Consumer groups as JSON, in the shapes of Confluent's v3."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Annotated, Any, Literal, NotRequired, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from application.groups.lag import PartitionLag
from application.groups.reset import ResetStrategy, ResetTarget
from interfaces.rest.shapes.common import (
    ListMetadata,
    Related,
    RequestModel,
    Resource,
    body,
    example,
    fields,
    resource,
)
from interfaces.rest.shapes.topics import Int32
from interfaces.rest.timestamps import Timestamp
from interfaces.rest.urls import Urls

Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class OfGroup(Resource):
    consumer_group_id: str


@resource("KafkaConsumerGroup", "consumer-groups/{consumer_group_id}")
class GroupBody(OfGroup):
    is_simple: Annotated[bool, lambda group: not group.protocol_type]
    partition_assignor: str
    #: STABLE, EMPTY, PREPARING_REBALANCE, COMPLETING_REBALANCE, ASSIGNING, RECONCILING, DEAD
    state: Annotated[str, lambda group: as_constant(group.state_name)]
    #: classic or consumer
    type: Annotated[str, attrgetter("kind.value")]
    members_count: Annotated[int, lambda group: len(group.members)]
    coordinator: Annotated[Related, "brokers/{node_id}"]
    consumers: Annotated[Related, "/consumers"]
    lag_summary: Annotated[Related, "/lag-summary"]


@resource("KafkaConsumer", "consumer-groups/{consumer_group_id}/consumers/{consumer_id}")
class ConsumerBody(OfGroup):
    consumer_id: Annotated[str, attrgetter("member_id")]
    instance_id: str | None
    client_id: str
    client_host: str
    assignments: Annotated[Related, "/assignments"]


@resource(
    "KafkaConsumerAssignment",
    "consumer-groups/{consumer_group_id}/consumers/{consumer_id}/assignments"
    "/{topic_name}/partitions/{partition_id}",
)
class AssignmentBody(OfGroup):
    consumer_id: str
    topic_name: str
    partition_id: int
    partition: Annotated[Related, "topics/{topic_name}/partitions/{partition_id}"]
    lag: Annotated[
        Related,
        "consumer-groups/{consumer_group_id}/lags/{topic_name}/partitions/{partition_id}",
    ]


@resource(
    "KafkaConsumerLag",
    "consumer-groups/{consumer_group_id}/lags/{topic_name}/partitions/{partition_id}",
)
class LagBody(OfGroup):
    topic_name: Annotated[str, attrgetter("topic")]
    partition_id: Annotated[int, attrgetter("partition")]
    current_offset: int
    #: null: the log cannot be read, or another broker leads the partition.
    log_end_offset: int | None
    lag: int | None
    #: Empty: the partition is assigned to no member.
    consumer_id: Annotated[str, lambda lag: lag.member.member_id if lag.member else ""]
    instance_id: Annotated[str | None, lambda lag: lag.member and lag.member.instance_id]
    client_id: Annotated[str, lambda lag: lag.member.client_id if lag.member else ""]


@resource("KafkaConsumerGroupLagSummary", "consumer-groups/{consumer_group_id}/lag-summary")
class LagSummaryBody(OfGroup):
    #: All null: other brokers lead partitions of the group, so that its lag is not known here.
    max_lag_consumer_id: str | None
    max_lag_instance_id: str | None
    max_lag_client_id: str | None
    max_lag_topic_name: str | None
    max_lag_partition_id: int | None
    max_lag: int | None
    total_lag: int | None
    #: All consumers of the group if the partition is assigned to no member.
    max_lag_consumer: Related | None
    max_lag_partition: Related | None
    #: Only where the lag is not known: a sentence that says why.
    warnings: NotRequired[list[str]]


def as_constant(state: str) -> str:
    """PreparingRebalance, as Confluent's server writes it: PREPARING_REBALANCE."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", state).upper()


def lag_summary_body(group_id: str, lags: list[PartitionLag], urls: Urls) -> dict[str, Any]:
    """Of at least one partition. Of several with the same lag the first one is the maximum."""
    elsewhere = sum(lag.is_elsewhere for lag in lags)
    if elsewhere:
        return _unknown_lag_body(group_id, elsewhere, len(lags), urls)
    largest = fields(LagBody, max(lags, key=lambda lag: lag.lag or 0), consumer_group_id=group_id)
    names = ("consumer_id", "instance_id", "client_id", "topic_name", "partition_id")
    consumer = [largest["consumer_id"]] if largest["consumer_id"] else []
    partition = urls("topics", largest["topic_name"], "partitions", str(largest["partition_id"]))
    return body(
        LagSummaryBody,
        urls,
        consumer_group_id=group_id,
        max_lag=largest["lag"] or 0,
        total_lag=sum(each.lag or 0 for each in lags),
        max_lag_consumer={"related": urls("consumer-groups", group_id, "consumers", *consumer)},
        max_lag_partition={"related": partition},
        **{f"max_lag_{name}": largest[name] for name in names},
    )


def _unknown_lag_body(group_id: str, elsewhere: int, of: int, urls: Urls) -> dict[str, Any]:
    lags = {name: None for name in LagSummaryBody.__annotations__ if "lag" in name}
    warning = (
        f"Other brokers lead {elsewhere} of the {of} partitions with committed offsets, and know "
        "their ends: ottla group describe asks them"
    )
    summary = body(LagSummaryBody, urls, consumer_group_id=group_id, **lags)
    return {**summary, "warnings": [warning]}


# ---- resetting offsets

#: Words of the command line, which REST takes too.
_WORDS = {"start": "earliest", "end": "latest"}


class SetOffsets(
    RequestModel, json_schema_extra=example(to="earliest", topic="orders", dry_run=True)
):
    """Without a topic: every partition for which the group has committed an offset."""

    topic: str | None = None
    partitions: Annotated[list[Int32], Field(min_length=1)] | None = None
    to: Annotated[
        Literal["earliest", "latest", "start", "end", "offset", "timestamp", "shift_by"],
        Field(description="start is another word for earliest, and end for latest."),
    ]
    offset: Annotated[Int64, Field(ge=0)] | None = None
    timestamp: Timestamp | None = None
    shift_by: Int64 | None = None
    dry_run: bool = False

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        for name in ("offset", "timestamp", "shift_by"):
            is_set = getattr(self, name) is not None
            if is_set != (self.to == name):
                verb = "is only allowed" if is_set else "is required"
                raise ValueError(f'{name} {verb} if "to" is "{name}"')
        return self

    @property
    def target(self) -> ResetTarget:
        value = getattr(self, self.to, None)
        return ResetTarget(ResetStrategy(_WORDS.get(self.to, self.to)), value or 0)


class ResetBody(TypedDict):
    topic_name: Annotated[str, attrgetter("topic")]
    partition_id: Annotated[int, attrgetter("partition")]
    #: null: no offset was committed.
    before: int | None
    after: int
    log_start_offset: Annotated[int, attrgetter("start")]
    log_end_offset: Annotated[int, attrgetter("end")]


class ResetList(TypedDict):
    kind: str
    metadata: ListMetadata
    consumer_group_id: str
    dry_run: bool
    data: list[ResetBody]
