"""The last hour of the broker, of a topic and of a group, for charts."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from interfaces.rest.routes.resource import ShortRoutes, get
from interfaces.rest.shapes.common import ListOf
from interfaces.rest.shapes.history import (
    BrokerSample,
    GroupSample,
    TopicSample,
    sample_bodies,
)


class HistoryRoutes(ShortRoutes):
    tag = "metrics"

    @get("/history", ListOf[BrokerSample])
    async def get_history(self, request: Request) -> Response:
        """The last hour of the broker, a sample every ten seconds, the oldest first."""
        samples = sample_bodies(BrokerSample, self._admin.history.broker())
        return await self._list(request, "History", samples)

    @get("/topics/{topic_name}/history", ListOf[TopicSample])
    async def get_topic_history(self, request: Request, topic_name: str) -> Response:
        """Empty for a topic without traffic in the last hour, and beyond 200 with traffic."""
        self._topic(topic_name)
        samples = sample_bodies(TopicSample, self._admin.history.topic(topic_name))
        return await self._list(request, "TopicHistory", samples)

    @get("/groups/{group_id}/history", ListOf[GroupSample])
    async def get_group_history(self, request: Request, group_id: str) -> Response:
        """Of the first 200 groups with committed offsets; empty for others."""
        self._broker.groups.lag.group(group_id)
        samples = sample_bodies(GroupSample, self._admin.history.group(group_id))
        return await self._list(request, "GroupHistory", samples)
