"""What a driver asks of a broker: which partitions there are, and their offsets, all at once.

One request for all partitions, never one for each; what does not come within the patience of the
options is a failure of one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from interfaces.spark.failures import JobFailed
from interfaces.spark.kafka.assignment import Assignment
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.places import (
    EARLIEST,
    EARLIEST_OFFSET,
    LATEST,
    LATEST_OFFSET,
    OFFSETS,
    Where,
)
from interfaces.spark.kafka.ranges import Offsets, Place
from interfaces.spark.kafka.reachable import look

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

#: A broker that is there answers sooner; one that is not is told of soon.
PATIENCE_S = 30.0
_NO_OFFSET = -1


class Broker:
    """Opens a connection when first asked, and keeps it until `close`."""

    def __init__(self, options: KafkaOptions) -> None:
        self.options = options
        self.patience_s = min(PATIENCE_S, options.patience_s)
        self._admin: AdminClient | None = None
        self._complaint = ""

    def close(self) -> None:
        self._admin = None

    @property
    def admin(self) -> AdminClient:
        from confluent_kafka.admin import AdminClient

        if self._admin is None:
            look(self.options.servers)
            self._admin = self.options.made(AdminClient, error_cb=self._complained)
        return self._admin

    def _complained(self, error: KafkaError) -> None:
        from confluent_kafka import KafkaError

        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self._complaint = error.str()

    def places(self, assignment: Assignment, lenient: bool = False) -> list[Place]:
        """In the order of topics and partitions."""
        if assignment.pattern:
            partitions = self._matching(assignment)
        else:
            partitions = self._described(assignment.topics)
        return assignment.among(partitions, self.options.servers, lenient)

    def _matching(self, assignment: Assignment) -> dict[str, int]:
        from confluent_kafka import KafkaException

        try:
            found = self.admin.list_topics(timeout=self.patience_s).topics
        except KafkaException as failure:
            raise self._failed("the topics", failure.args[0]) from None
        return {
            name: len(topic.partitions)
            for name, topic in found.items()
            if topic.error is None and assignment.matches(name)
        }

    def _described(self, topics: Iterable[str]) -> dict[str, int]:
        """Topics that are not there are not in the answer, and are not created by the question."""
        from confluent_kafka import KafkaError, KafkaException, TopicCollection

        asked = self.admin.describe_topics(
            TopicCollection(list(topics)), request_timeout=self.patience_s
        )
        found: dict[str, int] = {}
        for topic, answer in asked.items():
            try:
                found[topic] = len(self._result("the topics", answer).partitions)
            except KafkaException as failure:
                gone = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_EXCEPTION)
                if failure.args[0].code() not in gone:
                    raise self._failed(f"topic {topic}", failure.args[0]) from None
        return found

    def earliest(self, places: Iterable[Place]) -> Offsets:
        return self._offsets(dict.fromkeys(places, EARLIEST_OFFSET))

    def latest(self, places: Iterable[Place]) -> Offsets:
        """With isolation.level=read_committed: before the first transaction that is still open."""
        return self._offsets(dict.fromkeys(places, LATEST_OFFSET))

    def first_since(self, times: Mapping[Place, int]) -> dict[Place, int | None]:
        """The first offset whose record is of that time, in ms, or later; None: there is none."""
        found = self._listed({place: ("time", time_ms) for place, time_ms in times.items()})
        return {place: None if offset == _NO_OFFSET else offset for place, offset in found.items()}

    def resolved(self, where: Where, places: list[Place]) -> Offsets:
        where.check(places)
        if where.kind == EARLIEST:
            return self.earliest(places)
        if where.kind == LATEST:
            return self.latest(places)
        if where.kind == OFFSETS:
            return dict(where.values) | self._offsets(
                {place: offset for place, offset in where.values.items() if offset < 0}
            )
        since = self.first_since({place: where.time_of(place) for place in places})
        late = [place for place, offset in since.items() if offset is None]
        if late and not where.or_latest:
            raise JobFailed(
                f"{where.option}: {late[0]} has no record of {where.time_of(late[0])} or later "
                "(startingOffsetsByTimestampStrategy=latest starts at its end then)"
            )
        found = {place: offset for place, offset in since.items() if offset is not None}
        return found | self.latest(late)

    def _offsets(self, wanted: Mapping[Place, int]) -> Offsets:
        return self._listed(
            {p: ("earliest" if o == EARLIEST_OFFSET else "latest", 0) for p, o in wanted.items()}
        )

    def _listed(self, wanted: Mapping[Place, tuple[str, int]]) -> Offsets:
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        if not wanted:
            return {}
        specs: Any = OffsetSpec
        fixed = {"earliest": specs.earliest(), "latest": specs.latest()}
        committed = self.options.isolation == "read_committed"
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        asked = self.admin.list_offsets(
            {
                TopicPartition(*place): fixed.get(kind) or specs.for_timestamp(time_ms)
                for place, (kind, time_ms) in wanted.items()
            },
            isolation_level=level,
            request_timeout=self.patience_s,
        )
        found: Offsets = {}
        for of, answer in asked.items():
            place = Place(of.topic, of.partition)
            try:
                found[place] = self._result("offsets", answer).offset
            except KafkaException as failure:
                raise self._failed(f"offsets of {place}", failure.args[0]) from None
        return found

    def _result(self, what: str, answer: Any) -> Any:
        try:
            return answer.result(self.patience_s + 1)
        except TimeoutError:
            raise self._silent(what) from None

    def _failed(self, what: str, error: KafkaError) -> JobFailed:
        from confluent_kafka import KafkaError

        silent = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)
        if error.code() in silent:
            return self._silent(what)
        return JobFailed(f"{what}: {error.str()} ({error.name().lstrip('_')})")

    def _silent(self, what: str) -> JobFailed:
        if self._admin is not None:
            self._admin.poll(0)  # hands over what it has complained of
        why = f": {self._complaint}" if self._complaint else ""
        return JobFailed(
            f"{what}: no answer from {self.options.servers} within {self.patience_s:g} s{why}"
        )
