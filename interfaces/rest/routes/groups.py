"""Consumer groups: who is in them, how far they are, where they go on; and their end."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from application.groups.lag import PartitionLag
from domain.groups.group import Group, GroupMember
from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.errors import RestError
from interfaces.rest.pages import Paged, index_key
from interfaces.rest.pending import value_of
from interfaces.rest.routes.resource import Routes
from interfaces.rest.shapes.groups import (
    AssignmentBody,
    AssignmentList,
    ConsumerBody,
    ConsumerList,
    GroupBody,
    GroupList,
    LagBody,
    LagList,
    LagSummaryBody,
    ResetList,
    SetOffsets,
    assignment_body,
    consumer_body,
    group_body,
    lag_body,
    lag_summary_body,
    reset_body,
)
from interfaces.rest.slices import all_of
from interfaces.rest.urls import Urls


class GroupRoutes(Routes):
    prefix = "/groups"

    def router(self) -> APIRouter:
        routes = APIRouter(prefix=self.prefix, tags=["groups"])
        routes.get("", response_model=GroupList)(self.list_groups)
        routes.get("/{group_id}", response_model=GroupBody)(self.get_group)
        routes.delete("/{group_id}", status_code=204)(self.delete_group)
        routes.get("/{group_id}/consumers", response_model=ConsumerList)(self.list_consumers)
        routes.get("/{group_id}/consumers/{consumer_id}", response_model=ConsumerBody)(
            self.get_consumer
        )
        routes.get(
            "/{group_id}/consumers/{consumer_id}/assignments", response_model=AssignmentList
        )(self.list_assignments)
        routes.get(
            "/{group_id}/consumers/{consumer_id}/assignments/{topic_name}/partitions/{partition_id}",
            response_model=AssignmentBody,
        )(self.get_assignment)
        routes.get("/{group_id}/lag-summary", response_model=LagSummaryBody)(self.get_lag_summary)
        routes.get("/{group_id}/lags", response_model=LagList)(self.list_lags)
        routes.get(
            "/{group_id}/lags/{topic_name}/partitions/{partition_id}", response_model=LagBody
        )(self.get_lag)
        routes.post("/{group_id}/offsets", response_model=ResetList)(self.set_offsets)
        return routes

    def _body(self, group: Group, at: Urls) -> GroupBody:
        return group_body(
            group,
            group.assignor(self._broker.config.group_consumer_assignors),
            len(group.members),
            self._node_id,
            at,
        )

    async def list_groups(self, request: Request, page: Paged) -> Response:
        self._broker.groups.offsets.check_loaded()
        at = self._urls(request)
        groups = sorted(self._broker.groups.registry, key=_group_id)
        shown, next_url = page.of(groups, _group_id, at("consumer-groups"))
        bodies = (self._body(group, at) for group in shown)
        return await listing(
            self._admin, "KafkaConsumerGroupList", at("consumer-groups"), bodies, next_url
        )

    async def get_group(self, request: Request, group_id: str) -> JsonAnswer:
        return JsonAnswer(self._body(self._broker.groups.lag.group(group_id), self._urls(request)))

    async def delete_group(self, group_id: str) -> Response:
        """With all that it has committed; refused while it has members."""
        refused = (await value_of(self._broker.groups.delete_groups.delete([group_id])))[group_id]
        if refused is not None:
            raise refused
        return Response(status_code=204)

    async def list_consumers(self, request: Request, group_id: str) -> Response:
        at = self._urls(request)
        group = self._broker.groups.lag.group(group_id)
        found = list(group.assigned_members(self._broker.catalog.topic_by_id))
        bodies = (consumer_body(group_id, member, at) for member in found)
        return await listing(
            self._admin, "KafkaConsumerList", at("consumer-groups", group_id, "consumers"), bodies
        )

    def _member(self, group_id: str, consumer_id: str) -> GroupMember:
        group = self._broker.groups.lag.group(group_id)
        for member in group.assigned_members(self._broker.catalog.topic_by_id):
            if member.member_id == consumer_id:
                return member
        raise RestError(404, f"group {group_id} has no member {consumer_id!r}", 40406)

    async def get_consumer(self, request: Request, group_id: str, consumer_id: str) -> JsonAnswer:
        member = self._member(group_id, consumer_id)
        return JsonAnswer(consumer_body(group_id, member, self._urls(request)))

    async def list_assignments(self, request: Request, group_id: str, consumer_id: str) -> Response:
        at = self._urls(request)
        member = self._member(group_id, consumer_id)
        bodies = (
            assignment_body(group_id, consumer_id, topic, partition, at)
            for topic, partitions in member.assigned.items()
            for partition in partitions
        )
        url = at("consumer-groups", group_id, "consumers", consumer_id, "assignments")
        return await listing(self._admin, "KafkaConsumerAssignmentList", url, bodies)

    async def get_assignment(
        self, request: Request, group_id: str, consumer_id: str, topic_name: str, partition_id: int
    ) -> JsonAnswer:
        member = self._member(group_id, consumer_id)
        if partition_id not in member.assigned.get(topic_name, ()):
            words = f"{consumer_id} does not read {topic_name}-{partition_id}"
            raise RestError(404, words, 40409)
        at = self._urls(request)
        return JsonAnswer(assignment_body(group_id, consumer_id, topic_name, partition_id, at))

    async def _lags(self, group_id: str) -> list[PartitionLag]:
        service = self._broker.groups.lag
        return await all_of(self._admin, service.lags(service.group(group_id)))

    async def get_lag_summary(self, request: Request, group_id: str) -> JsonAnswer:
        lags = await self._lags(group_id)
        if not lags:
            raise RestError(404, f"group {group_id} has committed nothing", 40408)
        return JsonAnswer(lag_summary_body(group_id, lags, self._urls(request)))

    async def list_lags(self, request: Request, group_id: str, page: Paged) -> Response:
        at = self._urls(request)
        url = at("consumer-groups", group_id, "lags")
        lags = await self._lags(group_id)
        shown, next_url = page.of(lags, _place_key, url)
        bodies = (lag_body(group_id, lag, at) for lag in shown)
        return await listing(self._admin, "KafkaConsumerLagList", url, bodies, next_url)

    async def get_lag(
        self, request: Request, group_id: str, topic_name: str, partition_id: int
    ) -> JsonAnswer:
        group = self._broker.groups.lag.group(group_id)
        lag = self._broker.groups.lag.lag(group, topic_name, partition_id)
        if lag is None:
            words = f"group {group_id} has committed nothing in {topic_name}-{partition_id}"
            raise RestError(404, words, 40408)
        return JsonAnswer(lag_body(group_id, lag, self._urls(request)))

    async def set_offsets(self, request: Request, group_id: str, wanted: SetOffsets) -> Response:
        """Where the group goes on reading, as kafka-consumer-groups sets it: within what each log
        has, and only of a group without members. With `dry_run` it is only shown.
        """
        job = self._broker.groups.reset_offsets.reset(
            group_id, wanted.topic, wanted.partitions, wanted.target, wanted.dry_run
        )
        resets = await value_of(self._broker.background.run(job))
        url = self._urls(request)("consumer-groups", group_id, "offsets")
        return await listing(
            self._admin,
            "ConsumerGroupOffsetResetList",
            url,
            map(reset_body, resets),
            consumer_group_id=group_id,
            dry_run=wanted.dry_run,
        )


class ConfluentGroupRoutes(GroupRoutes):
    prefix = "/consumer-groups"


def _group_id(group: Group) -> str:
    return group.group_id


def _place_key(lag: PartitionLag) -> str:
    """A blank sorts before whatever else a name may have: the order of places."""
    return f"{lag.topic} {index_key(lag.partition)}"
