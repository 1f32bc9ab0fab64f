"""Metadata and offsets for the driver: one request for all partitions, with a timeout."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reachable import look
from interfaces.spark.kafka.refusals import Refusals
from interfaces.spark.query.assignment import Assignment
from interfaces.spark.query.bounds import EARLIEST, LATEST, Bound
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.query.ranges import Offsets, Place
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

T = TypeVar("T")

#: Enough for a loaded broker; a missing one is reported sooner than by Spark's connector.
PATIENCE_S = 30.0
_NO_OFFSET = -1
_RETRY_S = 0.2
#: The topic id of brokers that are older than topic ids.
_NO_ID = "A" * 22


class Broker:
    """Connects on first use; `close` disconnects."""

    def __init__(self, options: KafkaOptions) -> None:
        self.options = options
        self.patience_s = min(PATIENCE_S, options.patience_s)
        self._admin: AdminClient | None = None
        self._refusals = Refusals()
        #: Of the topics in the last response; a topic that was created again has another id.
        self.topic_ids: dict[str, str] = {}

    def close(self) -> None:
        self._admin = None

    @property
    def admin(self) -> AdminClient:
        from confluent_kafka.admin import AdminClient

        if self._admin is None:
            look(self.options.servers)
            self._refusals = Refusals()
            admin = self.options.made(AdminClient, error_cb=self._refusals)
            self._connect(admin)
            self._admin = admin
        return self._admin

    def _connect(self, admin: AdminClient) -> None:
        """Fails soon if brokers refuse the client; the next request reports other errors."""
        response: Future[Any] = admin.describe_cluster(request_timeout=self.patience_s)
        while not wait([response], _RETRY_S).done:
            admin.poll(0)
            self._refusals.check()

    def places(self, assignment: Assignment, lenient: bool = False) -> list[Place]:
        """In the order of topics and partitions."""
        names = assignment.topics
        if assignment.pattern:
            names = tuple(filter(assignment.matches, self._patiently("the topics", self._names)))
        described = self._patiently("the topics", lambda left_s: self._described(names, left_s))
        ids = {topic: str(found.topic_id) for topic, found in described.items()}
        self.topic_ids = {topic: ids[topic] for topic in ids if ids[topic] != _NO_ID}
        partitions = {topic: len(found.partitions) for topic, found in described.items()}
        return assignment.among(partitions, f"at {self.options.servers}", lenient)

    def _names(self, left_s: float) -> list[str]:
        return list(self.admin.list_topics(timeout=left_s).topics)

    def _described(self, topics: Iterable[str], left_s: float) -> dict[str, Any]:
        """Without topics that do not exist; unlike Metadata, this request creates none."""
        from confluent_kafka import KafkaError, KafkaException, TopicCollection

        if not (names := list(topics)):
            return {}
        responses = self.admin.describe_topics(TopicCollection(names), request_timeout=left_s)
        found: dict[str, Any] = {}
        for topic, response in responses.items():
            try:
                found[topic] = response.result(left_s + 1)
            except KafkaException as failure:
                gone = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_EXCEPTION)
                if failure.args[0].code() not in gone:
                    raise
        return found

    def earliest(self, places: Iterable[Place]) -> Offsets:
        return self._offsets(dict.fromkeys(places, EARLIEST))

    def latest(self, places: Iterable[Place]) -> Offsets:
        """With isolation.level=read_committed this is the last stable offset."""
        return self._offsets(dict.fromkeys(places, LATEST))

    def first_since(self, times: Mapping[Place, int]) -> dict[Place, int | None]:
        """The first offset with that timestamp, in ms, or a later one; None: no such record."""
        found = self._listed({place: ("time", time_ms) for place, time_ms in times.items()})
        return {place: None if offset == _NO_OFFSET else offset for place, offset in found.items()}

    def resolved(self, bound: Bound, places: list[Place]) -> Offsets:
        named = {place: bound.of(place) for place in places}
        if not bound.are_times:
            return named | self._offsets({p: offset for p, offset in named.items() if offset < 0})
        since = self.first_since(named)
        late = [place for place, offset in since.items() if offset is None]
        if late and not bound.or_latest:
            raise bound.has_none(late[0])
        found = {place: offset for place, offset in since.items() if offset is not None}
        return found | self.latest(late)

    def _offsets(self, edges: Mapping[Place, int]) -> Offsets:
        return self._listed(
            {p: ("earliest" if o == EARLIEST else "latest", 0) for p, o in edges.items()}
        )

    def _listed(self, specs: Mapping[Place, tuple[str, int]]) -> Offsets:
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec

        if not specs:
            return {}
        spec: Any = OffsetSpec
        edges = {"earliest": spec.earliest(), "latest": spec.latest()}
        requested = {
            TopicPartition(*place): edges.get(kind) or spec.for_timestamp(time_ms)
            for place, (kind, time_ms) in specs.items()
        }
        return self._patiently("offsets", lambda left_s: self._list_offsets(requested, left_s))

    def _list_offsets(self, requested: Any, left_s: float) -> Offsets:
        from confluent_kafka import IsolationLevel

        committed = self.options.isolation == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        responses = self.admin.list_offsets(
            requested, isolation_level=level, request_timeout=left_s
        )
        return {
            Place(of.topic, of.partition): response.result(left_s + 1).offset
            for of, response in responses.items()
        }

    def _patiently(self, what: str, request: Callable[[float], T]) -> T:
        """Retries until the timeout, as the broker may be restarting."""
        from confluent_kafka import KafkaException

        deadline = time.monotonic() + self.patience_s
        admin = self.admin
        while True:
            left_s = max(1.0, deadline - time.monotonic())
            try:
                return request(left_s)
            except TimeoutError:
                raise self._timeout(what) from None
            except KafkaException as failure:
                error = failure.args[0]
                if time.monotonic() >= deadline or not _is_retriable(error):
                    raise self._failed(what, error) from None
            admin.poll(_RETRY_S)

    def _failed(self, what: str, error: KafkaError) -> JobFailed:
        if error.code() in _no_response():
            return self._timeout(what)
        return JobFailed(f"{what}: {in_words(error)}")

    def _timeout(self, what: str) -> JobFailed:
        self.admin.poll(0)  # calls error_cb
        why = self._refusals.why()
        return JobFailed(
            f"{what}: no response from {self.options.servers} within {self.patience_s:g} s"
            f"{': ' if why else ''}{why}"
        )


def _is_retriable(error: KafkaError) -> bool:
    from confluent_kafka import KafkaError

    moving = (
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,  # a new leader without a high watermark yet
    )
    return error.retriable() or error.code() in (*_no_response(), *moving)


def _no_response() -> tuple[int, ...]:
    from confluent_kafka import KafkaError

    return (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)
