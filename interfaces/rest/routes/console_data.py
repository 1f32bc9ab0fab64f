"""What the console's page asks for: each view's facts in one small answer.

They are its own, and may change with it; everything else it does goes by the documented paths.
Tables come as columns and rows: a thousand topics are 60 KB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson
from fastapi import APIRouter
from starlette.responses import Response

from application.summaries import Summaries
from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer, in_pieces
from interfaces.rest.routes.resource import Routes
from interfaces.rest.slices import all_of, encoded

TOPIC_COLUMNS = ("name", "partitions", "records", "size_bytes", "lag", "configs")
PARTITION_COLUMNS = ("partition", "start_offset", "end_offset", "size_bytes")
TOPIC_GROUP_COLUMNS = ("group_id", "state", "members", "partitions", "lag")
GROUP_COLUMNS = ("group_id", "state", "kind", "members", "topics", "lag")
LAG_COLUMNS = (
    "topic", "partition", "current_offset", "end_offset", "lag", "member_id", "client_id",
)  # fmt: skip

Row = tuple[object, ...]


class ConsoleDataRoutes(Routes):
    def __init__(self, admin: Admin) -> None:
        super().__init__(admin)
        broker = admin.broker
        self._summaries = Summaries(
            self._broker.catalog, broker.groups.registry, broker.groups.offsets
        )

    def router(self) -> APIRouter:
        routes = APIRouter(prefix="/console/data", include_in_schema=False)
        routes.get("/topics")(self.topics)
        routes.get("/partitions")(self.partitions)
        routes.get("/consumers")(self.consumers)
        routes.get("/groups")(self.groups)
        routes.get("/groups/{group_id}")(self.group)
        return routes

    async def topics(self) -> Response:
        lags: dict[str, int] = {}
        for topic, lag in await all_of(self._admin, self._summaries.lags_by_topic()):
            lags[topic] = lags.get(topic, 0) + lag
        return _table(self._admin, TOPIC_COLUMNS, self._topic_rows(lags))

    def _topic_rows(self, lags: dict[str, int]) -> Iterator[Row]:
        for topic, records, size_bytes, _ in self._summaries.topics():
            yield (
                topic.name,
                len(topic.partition_ids),
                records,
                size_bytes,
                lags.get(topic.name),
                len(topic.configs),
            )

    async def partitions(self, topic: str) -> Response:
        found = self._topic(topic)
        return _table(
            self._admin,
            PARTITION_COLUMNS,
            (
                (index, None, None, None)
                if one is None
                else (
                    index,
                    one.log_start_offset,
                    one.high_watermark,
                    getattr(one.durable, "size_bytes", 0),
                )
                for index, one in enumerate(self._summaries.partitions(found))
            ),
        )

    async def consumers(self, topic: str) -> Response:
        self._topic(topic)
        return _table(
            self._admin,
            TOPIC_GROUP_COLUMNS,
            (
                (
                    group.group_id,
                    group.state_name,
                    len(group.members),
                    self._summaries.committed_in(group.group_id, topic),
                    self._summaries.lag_in(group.group_id, topic),
                )
                for group in self._summaries.groups_of(topic)
            ),
        )

    async def groups(self) -> Response:
        self._broker.groups.offsets.check_loaded()
        return _table(
            self._admin,
            GROUP_COLUMNS,
            (
                (
                    group.group_id,
                    group.state_name,
                    group.kind.value,
                    len(group.members),
                    topics,
                    lag,
                )
                for group, topics, lag in self._summaries.groups()
            ),
        )

    async def group(self, group_id: str) -> JsonAnswer:
        found = self._broker.groups.lag.group(group_id)
        lags = await all_of(self._admin, self._broker.groups.lag.lags(found))
        rows = [
            (
                lag.topic,
                lag.partition,
                lag.current_offset,
                lag.log_end_offset,
                lag.lag,
                None if lag.member is None else lag.member.member_id,
                None if lag.member is None else lag.member.client_id,
            )
            for lag in lags
        ]
        return JsonAnswer(
            {
                "group_id": group_id,
                "state": found.state_name,
                "kind": found.kind.value,
                "assignor": found.assignor(self._broker.config.group_consumer_assignors),
                "members": [
                    {
                        "member_id": member.member_id,
                        "instance_id": member.instance_id,
                        "client_id": member.client_id,
                        "host": member.client_host,
                        "assigned": member.assigned,
                    }
                    for member in found.assigned_members(self._broker.catalog.topic_by_id)
                ],
                "partitions": {"columns": LAG_COLUMNS, "rows": rows},
            }
        )


def _table(admin: Admin, columns: tuple[str, ...], rows: Iterable[Row]) -> Response:
    """`rows` may be a generator that does the work: it is run in slices."""
    head = orjson.dumps({"columns": columns})[:-1]
    return in_pieces([head + b',"rows":'], encoded(admin, rows), b"}")
