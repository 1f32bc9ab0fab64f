"""Consumer groups: members, assignments, lag, resetting offsets, deleting."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from application.groups.lag import PartitionLag
from domain.groups.group import Group, GroupMember
from domain.security.access import Operation, ResourceType
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pages import Paged, index_key
from interfaces.rest.pending import value_of
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, delete, get, post
from interfaces.rest.shapes.common import ListOf, body, fields
from interfaces.rest.shapes.groups import (
    AssignmentBody,
    ConsumerBody,
    GroupBody,
    LagBody,
    LagSummaryBody,
    ResetBody,
    ResetList,
    SetOffsets,
    lag_summary_body,
)
from interfaces.rest.slices import all_of
from interfaces.rest.urls import Urls


class GroupRoutes(Routes):
    tag = "groups"
    prefix = "/groups"

    def _body(self, group: Group, at: Urls) -> dict[str, Any]:
        return body(
            GroupBody,
            at,
            group,
            consumer_group_id=group.group_id,
            partition_assignor=group.assignor(self._broker.config.group_consumer_assignors),
            node_id=self._node_id,
        )

    @get("", ListOf[GroupBody])
    async def list_groups(self, request: Request, page: Paged) -> Response:
        self._broker.groups.offsets.check_loaded()
        registry = self._broker.groups.registry
        found = self._describable(request, ResourceType.GROUP, registry, _group_id)
        groups = sorted(found, key=_group_id)
        return await self._page(
            request, "KafkaConsumerGroupList", page, groups, _group_id, self._body
        )

    @get("/{group_id}", GroupBody)
    async def get_group(self, request: Request, group_id: str) -> JsonResponse:
        return JsonResponse(
            self._body(self._broker.groups.lag.group(group_id), self._urls(request))
        )

    @delete("/{group_id}")
    async def delete_group(self, group_id: str) -> Response:
        """Deletes its committed offsets too; refused while the group has members."""
        refused = (await value_of(self._broker.groups.delete_groups.delete([group_id])))[group_id]
        if refused is not None:
            raise refused
        return Response(status_code=204)

    @get("/{group_id}/consumers", ListOf[ConsumerBody])
    async def list_consumers(self, request: Request, group_id: str) -> Response:
        at = self._urls(request)
        group = self._broker.groups.lag.group(group_id)
        members = list(group.assigned_members(self._broker.catalog.topic_by_id))
        bodies = (_consumer_body(group_id, member, at) for member in members)
        return await self._list(request, "KafkaConsumerList", bodies)

    def _member(self, group_id: str, consumer_id: str) -> GroupMember:
        group = self._broker.groups.lag.group(group_id)
        for member in group.assigned_members(self._broker.catalog.topic_by_id):
            if member.member_id == consumer_id:
                return member
        raise RestError(404, f"group {group_id} has no member {consumer_id!r}", 40406)

    @get("/{group_id}/consumers/{consumer_id}", ConsumerBody)
    async def get_consumer(self, request: Request, group_id: str, consumer_id: str) -> JsonResponse:
        member = self._member(group_id, consumer_id)
        return JsonResponse(_consumer_body(group_id, member, self._urls(request)))

    @get("/{group_id}/consumers/{consumer_id}/assignments", ListOf[AssignmentBody])
    async def list_assignments(self, request: Request, group_id: str, consumer_id: str) -> Response:
        at, exchange = self._urls(request), exchange_of(request)
        member = self._member(group_id, consumer_id)
        bodies = (
            _assignment_body(group_id, consumer_id, topic, partition, at)
            for topic, partitions in member.assigned.items()
            if exchange.may_describe(ResourceType.TOPIC, topic)
            for partition in partitions
        )
        return await self._list(request, "KafkaConsumerAssignmentList", bodies)

    @get(
        "/{group_id}/consumers/{consumer_id}/assignments/{topic_name}/partitions/{partition_id}",
        AssignmentBody,
    )
    async def get_assignment(
        self, request: Request, group_id: str, consumer_id: str, topic_name: str, partition_id: int
    ) -> JsonResponse:
        member = self._member(group_id, consumer_id)
        if partition_id not in member.assigned.get(topic_name, ()):
            message = f"{topic_name}-{partition_id} is not assigned to {consumer_id}"
            raise RestError(404, message, 40409)
        at = self._urls(request)
        return JsonResponse(_assignment_body(group_id, consumer_id, topic_name, partition_id, at))

    async def _lags(self, request: Request, group_id: str) -> list[PartitionLag]:
        """Of topics that the principal may describe, as in OffsetFetch."""
        service = self._broker.groups.lag
        group = service.group(group_id)
        await self._load(self._broker.groups.offsets.partitions(group_id))
        lags = await all_of(self._admin, service.lags(group))
        return self._describable(request, ResourceType.TOPIC, lags, _topic_of)

    @get("/{group_id}/lag-summary", LagSummaryBody)
    async def get_lag_summary(self, request: Request, group_id: str) -> JsonResponse:
        lags = await self._lags(request, group_id)
        if not lags:
            raise RestError(404, f"group {group_id} has no committed offsets", 40408)
        return JsonResponse(lag_summary_body(group_id, lags, self._urls(request)))

    @get("/{group_id}/lags", ListOf[LagBody])
    async def list_lags(self, request: Request, group_id: str, page: Paged) -> Response:
        lags = await self._lags(request, group_id)
        of_lag = partial(_lag_body, group_id)
        return await self._page(request, "KafkaConsumerLagList", page, lags, _place_key, of_lag)

    @get("/{group_id}/lags/{topic_name}/partitions/{partition_id}", LagBody)
    async def get_lag(
        self, request: Request, group_id: str, topic_name: str, partition_id: int
    ) -> JsonResponse:
        await self._load([(topic_name, partition_id)])
        group = self._broker.groups.lag.group(group_id)
        lag = self._broker.groups.lag.lag(group, topic_name, partition_id)
        if lag is None:
            message = f"group {group_id} has no committed offset for {topic_name}-{partition_id}"
            raise RestError(404, message, 40408)
        return JsonResponse(_lag_body(group_id, lag, self._urls(request)))

    @post("/{group_id}/offsets", ResetList)
    async def set_offsets(self, request: Request, group_id: str, body: SetOffsets) -> Response:
        """Resets committed offsets as kafka-consumer-groups does: within the bounds of each log,
        and only of a group without members. `dry_run` only shows the new offsets.
        """
        committed = self._broker.groups.offsets.of(group_id)
        for topic in [body.topic] if body.topic is not None else list(committed):
            exchange_of(request).require(Operation.READ, ResourceType.TOPIC, topic)
        job = self._broker.groups.reset_offsets.reset(
            group_id, body.topic, body.partitions, body.target, body.dry_run
        )
        resets = await value_of(self._broker.background.run(job))
        return await self._list(
            request,
            "ConsumerGroupOffsetResetList",
            (fields(ResetBody, reset) for reset in resets),
            consumer_group_id=group_id,
            dry_run=body.dry_run,
        )


class ConfluentGroupRoutes(GroupRoutes):
    prefix = "/consumer-groups"


def _consumer_body(group_id: str, member: GroupMember, at: Urls) -> dict[str, Any]:
    return body(ConsumerBody, at, member, consumer_group_id=group_id)


def _lag_body(group_id: str, lag: PartitionLag, at: Urls) -> dict[str, Any]:
    return body(LagBody, at, lag, consumer_group_id=group_id)


def _assignment_body(
    group_id: str, member_id: str, topic_name: str, index: int, at: Urls
) -> dict[str, Any]:
    return body(
        AssignmentBody,
        at,
        consumer_group_id=group_id,
        consumer_id=member_id,
        topic_name=topic_name,
        partition_id=index,
    )


def _topic_of(lag: PartitionLag) -> str:
    return lag.topic


def _group_id(group: Group) -> str:
    return group.group_id


def _place_key(lag: PartitionLag) -> str:
    """A blank sorts before all characters of topic names, so keys sort as partitions do."""
    return f"{lag.topic} {index_key(lag.partition)}"
