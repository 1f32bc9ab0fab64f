"""Data of the console's views: one small response each.

These paths belong to the console and may change with it. For everything else it uses the documented
paths.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from application.cluster.replicas import ReplicasOf
from application.metrics.families.request_counts import totals_of
from application.partitions.compaction import PartitionState
from application.summaries import Summaries, sum_of_known
from domain.cluster.nodes import NO_LEADER
from domain.groups.group import Group
from domain.security.access import Operation, ResourceType
from domain.topics.topic import Topic
from interfaces.rest.admin import Admin
from interfaces.rest.exchange import Exchange, exchange_of
from interfaces.rest.pending import value_of
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import ShortRoutes, get
from interfaces.rest.shapes.brokers import state_of
from interfaces.rest.slices import all_of

Row = dict[str, Any]
#: The groups with the most lag.
LAGGING = 5


class ConsoleDataRoutes(ShortRoutes):
    tag = "console"
    prefix = "/console/data"
    in_schema = False

    @property
    def _summaries(self) -> Summaries:
        groups = self._broker.groups
        return Summaries(self._broker.catalog, groups.registry, groups.offsets)

    @get("/topics")
    async def topics(self, request: Request) -> Response:
        await self._load(self._broker.catalog.all_places())
        lags: dict[str, int | None] = {}
        for topic, lag in await all_of(self._admin, self._summaries.lags_by_topic()):
            lags[topic] = sum_of_known((lags.get(topic, 0), lag))
        return await self._list(request, "ConsoleData", self._topics(exchange_of(request), lags))

    def _topics(self, exchange: Exchange, lags: dict[str, int | None]) -> Iterator[Row]:
        for topic, records, size_bytes, _ in self._summaries.topics():
            if not exchange.may_describe(ResourceType.TOPIC, topic.name):
                continue
            yield {
                "name": topic.name,
                "partitions": len(topic.partition_ids),
                "records": records,
                "size_bytes": size_bytes,
                # null: of no group, or other brokers lead some.
                "lag": lags.get(topic.name),
                "has_groups": topic.name in lags,
                "configs": len(topic.configs),
            }

    @get("/topics/{topic_name}")
    async def topic(self, request: Request, topic_name: str) -> JsonResponse:
        topic = self._topic(topic_name)
        samples = [*self._admin.history.topic(topic_name)]
        groups = await all_of(self._admin, self._groups_of(request, topic_name))
        await self._load_topic(topic)
        summary = self._summaries.topic(topic)
        outlook = await value_of(self._broker.retention.outlook(topic))
        compaction = await value_of(self._broker.compaction.state(topic))
        return JsonResponse(
            {
                "partitions": len(topic.partition_ids),
                "records": summary.records,
                "size_bytes": summary.size_bytes,
                "at_ms": self._admin.clock.now_ms(),
                "oldest_timestamp": _least(one.oldest_timestamp for one in outlook),
                "expires_at": _least(one.expires_ms for one in outlook),
                "compaction": _compaction(compaction),
                # null: no traffic in the last hour.
                "messages_in_per_sec": samples[-1][1] if samples else None,
                "groups": sorted(group.group_id for group in groups),
            }
        )

    def _groups_of(self, request: Request, topic_name: str) -> Iterator[Group]:
        exchange = exchange_of(request)
        for group in self._summaries.groups_of(topic_name):
            if exchange.may_describe(ResourceType.GROUP, group.group_id):
                yield group

    @get("/partitions")
    async def partitions(self, request: Request, topic: str) -> Response:
        exchange_of(request).require(Operation.DESCRIBE, ResourceType.TOPIC, topic)
        found = self._topic(topic)
        await self._load_topic(found)
        leaders = self._leaders(found)
        rows = (
            {
                "partition": index,
                **(leaders[index] if leaders else {}),
                "start_offset": one and one.log_start_offset,
                "end_offset": one and one.high_watermark,
                "size_bytes": one and getattr(one.durable, "size_bytes", 0),
            }
            for index, one in enumerate(self._summaries.partitions(found))
        )
        return await self._list(request, "ConsoleData", rows)

    def _leaders(self, topic: Topic) -> list[Row]:
        """Of each partition; empty where one broker leads all."""
        placement = self._broker.placement
        if placement.is_alone:
            return []
        return [
            {
                "leader": None if one.leader_id == NO_LEADER.node_id else one.leader_id,
                "leader_epoch": one.leader_epoch,
                "replicas": one.replicas,
                "offline": one.offline,
            }
            for one in map(ReplicasOf(placement), topic.partition_ids)
        ]

    async def _brokers(self) -> list[Row]:
        """Empty where there can be no other."""
        placement, cluster = self._broker.placement, self._broker.cluster
        if placement.is_alone:
            return []
        led: Counter[int] = Counter()
        for some in await all_of(
            self._admin,
            (
                Counter(placement.leader(each).node_id for each in topic.partition_ids)
                for topic in list(self._broker.catalog)
            ),
        ):
            led += some
        return [
            {
                "node_id": one.node.node_id,
                "addresses": [f"{host}:{port}" for host, port in one.node.addresses.values()],
                "rack": one.node.rack,
                "version": one.software,
                **state_of(one, cluster.lease_left_s(one.node.node_id)),
                "is_controller": one.node.node_id == cluster.controller_id,
                "partitions_led": led[one.node.node_id],
            }
            for one in cluster.brokers()
        ]

    @get("/consumers")
    async def consumers(self, request: Request, topic: str) -> Response:
        exchange_of(request).require(Operation.DESCRIBE, ResourceType.TOPIC, topic)
        await self._load_topic(self._topic(topic))
        rows = (
            {
                "group_id": group.group_id,
                "state": group.state_name,
                "members": len(group.members),
                "partitions": self._summaries.committed_in(group.group_id, topic),
                "lag": self._summaries.lag_in(group.group_id, topic),
            }
            for group in self._groups_of(request, topic)
        )
        return await self._list(request, "ConsoleData", rows)

    @get("/groups")
    async def groups(self, request: Request) -> Response:
        offsets = self._broker.groups.offsets
        offsets.check_loaded()
        await self._load(chain.from_iterable(map(offsets.partitions, offsets.group_ids())))
        exchange = exchange_of(request)
        rows = (
            {
                "group_id": group.group_id,
                "state": group.state_name,
                "kind": group.kind.value,
                "members": len(group.members),
                "topics": topics,
                "lag": lag,
            }
            for group, topics, lag in self._summaries.groups()
            if exchange.may_describe(ResourceType.GROUP, group.group_id)
        )
        return await self._list(request, "ConsoleData", rows)

    @get("/groups/{group_id}")
    async def group(self, request: Request, group_id: str) -> JsonResponse:
        service, exchange = self._broker.groups.lag, exchange_of(request)
        group = service.group(group_id)
        await self._load(self._broker.groups.offsets.partitions(group_id))
        lags = await all_of(self._admin, service.lags(group))
        members = [
            {
                "member_id": member.member_id,
                "client_id": member.client_id,
                "host": member.client_host,
                "assigned": {
                    topic: partitions
                    for topic, partitions in member.assigned.items()
                    if exchange.may_describe(ResourceType.TOPIC, topic)
                },
            }
            for member in group.assigned_members(self._broker.catalog.topic_by_id)
        ]
        partitions = [
            {
                "topic": one.topic,
                "partition": one.partition,
                "current_offset": one.current_offset,
                "end_offset": one.log_end_offset,
                "lag": one.lag,
                "is_elsewhere": one.is_elsewhere,
                "member_id": one.member and one.member.member_id,
                "client_id": one.member and one.member.client_id,
            }
            for one in lags
            if exchange.may_describe(ResourceType.TOPIC, one.topic)
        ]
        return JsonResponse(
            {
                "group_id": group_id,
                "state": group.state_name,
                "kind": group.kind.value,
                "assignor": group.assignor(self._broker.config.group_consumer_assignors),
                "members": members,
                "partitions": partitions,
            }
        )

    @get("/overview")
    async def overview(self) -> JsonResponse:
        """The page polls it every two seconds, and computes rates from the totals."""
        await self._load(self._broker.catalog.all_places())
        topics = await all_of(self._admin, self._summaries.topics())
        groups = await all_of(self._admin, self._summaries.groups())
        lags = [(one.lag, one.group) for one in groups if one.lag]
        lagging = sorted(lags, key=lambda one: one[0], reverse=True)
        totals, produce = totals_of(self._admin.counted())
        commits = self._admin.history.commits
        volume = self._broker.topics.log_dirs.volume
        space = volume.space()
        return JsonResponse(
            {
                "at_ms": self._admin.clock.now_ms(),
                "started_at_ms": self._admin.started_at_ms,
                "totals": {
                    "messages_in": sum(topic.appended for topic in topics),
                    **totals._asdict(),
                },
                "durations": {"produce": produce.places, "commit": commits.places},
                "topics": len(self._broker.catalog),
                "partitions": self._broker.catalog.partition_count(),
                "groups": len(groups),
                "groups_with_lag": len(lagging),
                # Other brokers lead partitions that they read.
                "groups_of_unknown_lag": sum(one.lag is None for one in groups),
                "lagging": [
                    {"group_id": group.group_id, "state": group.state_name, "lag": lag}
                    for lag, group in lagging[:LAGGING]
                ],
                "connections": len(self._admin.connections()),
                "max_connections": self._broker.config.max_connections,
                "disk": {
                    "place": volume.path,
                    "data_bytes": sum(topic.size_bytes or 0 for topic in topics),
                    "free_bytes": space.usable_bytes,
                    "total_bytes": space.total_bytes,
                },
                "not_ready": [why for check in self._admin.checks.values() if (why := check())],
                "broker": _facts(self._admin),
                "brokers": await self._brokers(),
            }
        )


def _least(times: Iterator[int | None]) -> int | None:
    return min((time for time in times if time is not None), default=None)


def _compaction(partitions: list[PartitionState]) -> Row | None:
    """None: the topic is not compacted."""
    if not partitions:
        return None
    uncleanable = Counter[str]()
    passes = [one.last_pass for one in partitions if one.last_pass]
    for one in partitions:
        if one.uncleanable is not None:
            uncleanable[one.uncleanable.value] += one.log.uncleanable_offsets
    return {
        "dirty_ratio": max(one.log.dirty_ratio for one in partitions),
        "min_dirty_ratio": partitions[0].log.partition.config.min_cleanable_ratio,
        # By why they are not compacted yet.
        "uncleanable": uncleanable,
        # null: not since the start.
        "compacted_at": max((one.at_ms for one in passes), default=None),
        "records_removed": sum(one.records_removed for one in passes),
    }


def _facts(admin: Admin) -> dict[str, Any]:
    broker = admin.broker
    return {
        "version": admin.version,
        "python": platform.python_version(),
        "cluster_id": broker.cluster_id,
        "node_id": broker.config.node_id,
        "storage": admin.storage,
        "flush": broker.config.flush,
        "listeners": list(_listeners(admin)),
    }


def _listeners(admin: Admin) -> Iterator[dict[str, Any]]:
    for each in admin.listeners():
        host = f"[{each.host}]" if ":" in each.host else each.host
        address = f"{host}:{each.port}"
        yield {"name": each.name, "address": address, "advertised": each.advertised}
