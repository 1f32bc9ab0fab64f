"""StreamService: the stream of `raw.topic`, which is created on first use."""

from __future__ import annotations

from application.ports.log_store import NotInMemory
from application.ports.pending import later
from application.ports.request_log import Requester
from application.streams.stream import RawStream, StreamParts
from application.topics.create import Created, CreateTopicsService
from domain.errors import BrokerError


class StreamService:
    def __init__(
        self, topic_name: str, parts: StreamParts, create_topics: CreateTopicsService
    ) -> None:
        self.topic_name = topic_name
        self._parts = parts
        self._create_topics = create_topics
        self._stream: RawStream | None = None
        #: Why the topic could not be created, for the client that wanted it.
        self._refused: BrokerError | None = None

    def open(self, by: Requester) -> RawStream:
        """Raises NotInMemory, also while the topic is created, or a BrokerError."""
        topic = self._parts.catalog.topic(self.topic_name)
        if topic is None:
            refused, self._refused = self._refused, None
            if refused is not None:
                raise refused
            created = self._create_topics.create_automatically([self.topic_name], by, 1)
            raise NotInMemory(later(created).map(self._created))
        if self._stream is None or not self._parts.catalog.holds(self._stream.partition):
            self._stream = RawStream(self._parts, topic)
        return self._stream

    def _created(self, results: list[Created]) -> None:
        self._refused = next((one for one in results if isinstance(one, BrokerError)), None)
