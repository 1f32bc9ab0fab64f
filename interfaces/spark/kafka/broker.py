"""What a driver asks of a broker: which partitions there are, and their offsets, all at once.

One request for all partitions, never one for each; what does not come within the patience of the
options is a failure of one line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reachable import look
from interfaces.spark.kafka.refusals import Refusals
from interfaces.spark.query.assignment import Assignment
from interfaces.spark.query.bounds import EARLIEST, LATEST, Where
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.query.ranges import Offsets, Place
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

T = TypeVar("T")

#: A broker that is there answers sooner; one that is not is told of soon.
PATIENCE_S = 30.0
_NO_OFFSET = -1
_RETRY_S = 0.2
#: Of brokers that are older than ids of topics.
_NO_ID = "A" * 22


class Broker:
    """Opens a connection when first asked, and keeps it until `close`."""

    def __init__(self, options: KafkaOptions) -> None:
        self.options = options
        self.patience_s = min(PATIENCE_S, options.patience_s)
        self._admin: AdminClient | None = None
        self._refusals = Refusals(options)
        #: Of the topics that were asked for last; another id is another topic of the same name.
        self.topic_ids: dict[str, str] = {}

    def close(self) -> None:
        self._admin = None

    @property
    def admin(self) -> AdminClient:
        from confluent_kafka.admin import AdminClient

        if self._admin is None:
            look(self.options.servers)
            self._refusals = Refusals(self.options)
            admin = self.options.made(AdminClient, error_cb=self._refusals)
            self._meet(admin)
            self._admin = admin
        return self._admin

    def _meet(self, admin: AdminClient) -> None:
        """Nobody waits for long where they are not let in; what else is wrong is told later."""
        met: Future[Any] = admin.describe_cluster(request_timeout=self.patience_s)
        while not wait([met], _RETRY_S).done:
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
        """Topics that are not there are not in the answer, and are not created by the question."""
        from confluent_kafka import KafkaError, KafkaException, TopicCollection

        if not (names := list(topics)):
            return {}
        asked = self.admin.describe_topics(TopicCollection(names), request_timeout=left_s)
        found: dict[str, Any] = {}
        for topic, answer in asked.items():
            try:
                found[topic] = answer.result(left_s + 1)
            except KafkaException as failure:
                gone = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_EXCEPTION)
                if failure.args[0].code() not in gone:
                    raise
        return found

    def earliest(self, places: Iterable[Place]) -> Offsets:
        return self._offsets(dict.fromkeys(places, EARLIEST))

    def latest(self, places: Iterable[Place]) -> Offsets:
        """With isolation.level=read_committed: before the first transaction that is still open."""
        return self._offsets(dict.fromkeys(places, LATEST))

    def first_since(self, times: Mapping[Place, int]) -> dict[Place, int | None]:
        """The first offset whose record is of that time, in ms, or later; None: there is none."""
        found = self._listed({place: ("time", time_ms) for place, time_ms in times.items()})
        return {place: None if offset == _NO_OFFSET else offset for place, offset in found.items()}

    def resolved(self, where: Where, places: list[Place]) -> Offsets:
        """`where` was checked against all that is read; `places` may be some of it."""
        named = {place: where.of(place) for place in places}
        if not where.are_times:
            return named | self._offsets({p: offset for p, offset in named.items() if offset < 0})
        since = self.first_since(named)
        late = [place for place, offset in since.items() if offset is None]
        if late and not where.or_latest:
            raise where.has_none(late[0])
        found = {place: offset for place, offset in since.items() if offset is not None}
        return found | self.latest(late)

    def _offsets(self, wanted: Mapping[Place, int]) -> Offsets:
        return self._listed(
            {p: ("earliest" if o == EARLIEST else "latest", 0) for p, o in wanted.items()}
        )

    def _listed(self, wanted: Mapping[Place, tuple[str, int]]) -> Offsets:
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec

        if not wanted:
            return {}
        specs: Any = OffsetSpec
        fixed = {"earliest": specs.earliest(), "latest": specs.latest()}
        asked = {
            TopicPartition(*place): fixed.get(kind) or specs.for_timestamp(time_ms)
            for place, (kind, time_ms) in wanted.items()
        }
        return self._patiently("offsets", lambda left_s: self._answered(asked, left_s))

    def _answered(self, asked: Any, left_s: float) -> Offsets:
        from confluent_kafka import IsolationLevel

        committed = self.options.isolation == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        answers = self.admin.list_offsets(asked, isolation_level=level, request_timeout=left_s)
        return {
            Place(of.topic, of.partition): answer.result(left_s + 1).offset
            for of, answer in answers.items()
        }

    def _patiently(self, what: str, ask: Callable[[float], T]) -> T:
        """A broker that starts again meanwhile is asked again."""
        from confluent_kafka import KafkaException

        deadline = time.monotonic() + self.patience_s
        admin = self.admin
        while True:
            left_s = max(1.0, deadline - time.monotonic())
            try:
                return ask(left_s)
            except TimeoutError:
                raise self._silent(what) from None
            except KafkaException as failure:
                error = failure.args[0]
                if time.monotonic() >= deadline or not _may_pass(error):
                    raise self._failed(what, error) from None
            admin.poll(_RETRY_S)

    def _failed(self, what: str, error: KafkaError) -> JobFailed:
        if error.code() in _silence():
            return self._silent(what)
        return JobFailed(f"{what}: {in_words(error)}")

    def _silent(self, what: str) -> JobFailed:
        self.admin.poll(0)  # it hands over what it complained of
        why = self._refusals.why()
        return JobFailed(
            f"{what}: no answer from {self.options.servers} within {self.patience_s:g} s"
            f"{': ' if why else ''}{why}"
        )


def _may_pass(error: KafkaError) -> bool:
    from confluent_kafka import KafkaError

    moving = (
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,  # a new leader that does not know its log's end yet
    )
    return error.retriable() or error.code() in (*_silence(), *moving)


def _silence() -> tuple[int, ...]:
    from confluent_kafka import KafkaError

    return (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)
