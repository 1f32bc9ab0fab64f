"""A consumer of all topics: long polls, with and without fetch sessions, by name and by id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from interfaces.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from interfaces.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.simulation.actors.client import PATIENCE_MS, Call, Client
from tests.simulation.entries import Entry
from tests.simulation.model import Violation
from tests.simulation.read_committed import wrong_of
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.incarnation import Incarnation
    from tests.simulation.world import World

OUT_OF_RANGE, UNKNOWN, STORAGE, UNKNOWN_ID, UNKNOWN_SESSION = 1, 3, 56, 100, 70
FIRST_WITH_SESSIONS = 7
BY_ID = 13
NO_ID = bytes(16)
LATEST, EARLIEST = -1, -2


class Followed:
    """A partition and the position of the consumer."""

    __slots__ = ("index", "name", "position", "topic_id")

    def __init__(self, name: str, topic_id: bytes, index: int) -> None:
        self.name = name
        self.topic_id = topic_id
        self.index = index
        self.position = 0


Key = tuple[str | bytes, int]


class Consumer(Client):
    has_to_finish = False

    def __init__(self, world: World, name: str, read_committed: bool = False) -> None:
        super().__init__(world, name)
        random = self.random
        self.read_committed = read_committed
        self.version = random.choice((4, 6, 7, 11, 12, 13, 17, 18))
        self.uses_session = self.version >= FIRST_WITH_SESSIONS and random.random() < 0.7
        self.max_wait_ms = random.choice((0, 5, 100, 400, 60_000))
        self.min_bytes = random.choice((1, 1, 1, 300)) if self.max_wait_ms <= 100 else 1
        self.max_bytes = random.choice((1, 600, 1 << 20))
        self.partition_max_bytes = random.choice((1, 300, 1 << 20))
        #: Probability of pipelining another request behind a fetch.
        self.pipelines = random.choice((0.0, 0.0, 0.3))
        self.seen: dict[Key, list[Entry]] = {}
        self._followed: dict[Key, Followed] = {}
        self._waiting = False
        self._refresh = True
        #: Partitions where its position is below the log start offset.
        self._to_reset: set[Key] = set()
        self._session_id = 0
        self._session_epoch = 0
        #: The positions in the broker's fetch session.
        self._session_positions: dict[Key, int] = {}
        self._age()

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        count = 3 if world.crowded else world.random.choice((1, 1, 2))
        found: list[Client] = [cls(world, f"c{number}") for number in range(count)]
        if world.transactions.exist:
            found += [cls(world, f"t{number}", read_committed=True) for number in range(2)]
        return found

    def _age(self) -> None:
        """Refreshes metadata regularly, as with `metadata.max.age.ms`."""
        if not self.finished:
            self._refresh = True
            if self.max_wait_ms > PATIENCE_MS and not self._follows_all():
                self.disconnect()
            self.world.timeline.after(self.random.choice((100, 300)), self._age)

    def _follows_all(self) -> bool:
        return all(self._follows(topic) for topic in self.world.model.live())

    def _follows(self, topic: Incarnation) -> bool:
        """A fetch of a topic that was recreated waits like one of an unknown topic."""
        named = topic.topic_id if self.version >= BY_ID else topic.name
        followed = [self._followed.get((named, one)) for one in range(len(topic.partition_ids))]
        return all(one is not None and one.topic_id == topic.topic_id for one in followed)

    # ---- next request

    def send_next(self) -> None:
        if self._waiting:
            return
        if self._refresh:
            self._request_topics()
        elif not self._followed:
            self._refresh = True
            self.later(30)
        elif self._to_reset:
            self._request_start(self._to_reset.pop())
        elif self.random.random() < 0.1:
            self._request_end()
        else:
            self._fetch()

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False
        self._session_epoch = 0
        self._session_positions.clear()

    def _request_topics(self) -> None:
        self._waiting = True
        topics = [MetadataRequestTopic(name=name) for name in self.world.topic_names]
        self.send(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 12, self._listed)

    def _listed(self, call: Call, response: MetadataResponse) -> None:
        self._waiting = self._refresh = False
        topics = self.world.known_topics(call, response)
        followed: dict[Key, Followed] = {}
        for name, (topic_id, count) in topics.items():
            for index in range(count):
                key: Key = (topic_id if self.version >= BY_ID else name, index)
                known = self._followed.get(key)
                if known is None or known.topic_id != topic_id:
                    known = Followed(name, topic_id, index)
                    self.seen[key] = []
                followed[key] = known
        self._followed = followed
        self.send_next()

    def _request_end(self) -> None:
        key = self.random.choice(list(self._followed))
        one = self._followed[key]
        self._waiting = True
        partition = ListOffsetsPartition(partition_index=one.index, timestamp=LATEST)
        topics = [ListOffsetsTopic(name=one.name, partitions=[partition])]
        request = ListOffsetsRequest(
            replica_id=-1, isolation_level=int(self.read_committed), topics=topics
        )
        self.send(request, 5, self._end_response)

    def _end_response(self, call: Call, response: ListOffsetsResponse) -> None:
        self._waiting = False
        topic = response.topics[0]
        one = topic.partitions[0]
        if one.error_code == 0:
            model = self.world.model
            check = model.transactions.check_stable if self.read_committed else model.check_end
            check(topic.name, one.partition_index, one.offset, *call.commits)
        elif one.error_code == UNKNOWN:
            self._unknown(topic.name, one.partition_index, call)
        elif one.error_code == STORAGE:
            self.check_unreadable(topic.name, one.partition_index, call)
        else:
            raise Violation(f"ListOffsets failed with {one.error_code}")
        self.send_next()

    def _request_start(self, key: Key) -> None:
        """Resets the offset, as with `auto.offset.reset=earliest`."""
        one = self._followed.get(key)
        if one is None:
            self.later(1)
            return
        self._waiting = True
        partition = ListOffsetsPartition(partition_index=one.index, timestamp=EARLIEST)
        topics = [ListOffsetsTopic(name=one.name, partitions=[partition])]
        self.send(
            ListOffsetsRequest(replica_id=-1, topics=topics),
            5,
            lambda call, response: self._start_response(call, response, key, one),
        )

    def _start_response(
        self, call: Call, response: ListOffsetsResponse, key: Key, one: Followed
    ) -> None:
        self._waiting = False
        topic = response.topics[0]
        partition = topic.partitions[0]
        starts = self.world.model.starts
        if partition.error_code == 0:
            starts.check_start(topic.name, one.index, partition.offset, *call.commits)
            if starts.is_possible(key[0], one.index, partition.offset, *call.commits):
                one.position = max(one.position, partition.offset)
            else:
                self._refresh = True
        elif partition.error_code == UNKNOWN:
            self._unknown(topic.name, one.index, call)
        elif partition.error_code == STORAGE:
            self.check_unreadable(topic.name, one.index, call)
        else:
            raise Violation(f"ListOffsets failed with {partition.error_code}")
        self.later(self.random.choice((1, 20)))

    # ---- fetching

    def _fetch(self) -> None:
        self._waiting = True
        continues = self.uses_session and self._session_epoch > 0
        changed = [
            (key, one)
            for key, one in self._followed.items()
            if not continues or self._session_positions.get(key) != one.position
        ]
        forgotten = (
            [key for key in self._session_positions if key not in self._followed]
            if continues
            else []
        )
        if not continues:
            self._session_positions.clear()
        for key in forgotten:
            del self._session_positions[key]
        for key, one in changed:
            self._session_positions[key] = one.position
        request = FetchRequest(
            max_wait_ms=self.max_wait_ms,
            min_bytes=self.min_bytes,
            max_bytes=self.max_bytes,
            isolation_level=int(self.read_committed),
            session_id=self._session_id,
            session_epoch=self._session_epoch if self.uses_session else -1,
            topics=[self._fetch_topic(one) for _, one in changed],
            forgotten_topics_data=[self._forgotten(key) for key in forgotten],
        )
        positions = {key: one.position for key, one in self._followed.items()}
        self.send(request, self.version, lambda call, got: self._fetched(call, got, positions))
        while self.random.random() < self.pipelines:
            self.send(MetadataRequest(topics=None), 12, self.world.known_topics)

    def _fetch_topic(self, one: Followed) -> FetchTopic:
        by_id = self.version >= BY_ID
        partition = FetchPartition(
            partition=one.index,
            fetch_offset=one.position,
            partition_max_bytes=self.partition_max_bytes,
        )
        return FetchTopic(
            topic="" if by_id else one.name,
            topic_id=one.topic_id if by_id else NO_ID,
            partitions=[partition],
        )

    def _forgotten(self, key: Key) -> ForgottenTopic:
        topic, index = key
        if isinstance(topic, bytes):
            return ForgottenTopic(topic_id=topic, partitions=[index])
        return ForgottenTopic(topic=topic, partitions=[index])

    def _fetched(self, call: Call, response: FetchResponse, positions: dict[Key, int]) -> None:
        self._waiting = False
        if response.error_code:
            raise Violation(f"{self.name}: Fetch failed with {response.error_code}")
        if self.uses_session:
            self._session_id = response.session_id
            if response.session_id == 0:
                self._session_epoch = 0
            else:
                self._session_epoch += 1
        behind = [key for key, at in positions.items() if self._was_behind(key, at, call)]
        failed = got_records = False
        for topic in response.responses:
            named = topic.topic_id if self.version >= BY_ID else topic.topic
            for one in topic.partitions:
                key: Key = (named, one.partition_index)
                if key not in positions:
                    raise Violation(f"{self.name} got {key}, which it does not fetch")
                failed = failed or one.error_code != 0
                got_records = got_records or bool(one.records)
                self._partition(key, positions[key], one, call)
        # A broker that stops does not wait for records to be loaded.
        if behind and not got_records and not failed and not call.line.is_closing():
            raise Violation(f"{self.name} got no records, although {behind} had some")
        if failed or (not got_records and self.max_wait_ms < 100):
            self.later(self.random.choice((5, 20)))
        else:
            self.send_next()

    def _was_behind(self, key: Key, position: int, call: Call) -> bool:
        """Returns True if there were records when the request was sent."""
        model = self.world.model
        had_more = model.transactions.had_more if self.read_committed else model.had_more
        return had_more(key[0], key[1], position, call.requested)

    def _partition(self, key: Key, position: int, one: PartitionData, call: Call) -> None:
        model = self.world.model
        topic, index = key
        if one.error_code == 0:
            model.starts.fetched(topic, index, position, one.log_start_offset, *call.commits)
            entries = self._check_records(key, position, one, call)
            ends = [position, *(entry.last + 1 for entry in entries)]
            if any(entry.base > end for entry, end in zip(entries, ends, strict=False)):
                self.world.count(Situation.FETCHED_COMPACTED)
            followed = self._followed.get(key)
            if entries and followed is not None and followed.position == position:
                followed.position = entries[-1].last + 1
                self.seen[key] += entries
        elif one.error_code in (UNKNOWN, UNKNOWN_ID):
            self._unknown(topic, index, call)
        elif one.error_code == OUT_OF_RANGE:
            self._out_of_range(key, position, call)
        elif one.error_code == STORAGE:
            self.check_unreadable(topic, index, call)
        else:
            raise Violation(f"{self.name}: {key} failed with {one.error_code}")

    def _check_records(
        self, key: Key, position: int, one: PartitionData, call: Call
    ) -> list[Entry]:
        model, (topic, index), records = self.world.model, key, bytes(one.records or b"")
        model.check_end(topic, index, one.high_watermark, *call.commits)
        model.transactions.check_stable(topic, index, one.last_stable_offset, *call.commits)
        end = one.last_stable_offset if self.read_committed else one.high_watermark
        entries = model.fetched(topic, index, position, end, records, *call.commits)
        if self.read_committed:
            wrong, skipped = wrong_of(
                entries, records, one.aborted_transactions or (), call.responded
            )
            if wrong:
                raise Violation(f"{self.name}: {topic!r}-{index}: {wrong}")
            if skipped:
                self.world.count(Situation.ABORTED_HIDDEN)
        elif one.aborted_transactions:
            raise Violation(f"{self.name} is READ_UNCOMMITTED, and got aborted transactions")
        return entries

    def _unknown(self, topic: str | bytes, index: int, call: Call) -> None:
        self.world.model.refused_as_unknown(topic, index, *call.commits)
        self._refresh = True

    def _out_of_range(self, key: Key, position: int, call: Call) -> None:
        """Valid after DeleteRecords and retention, or for a recreated topic."""
        topic, index = key
        starts = self.world.model.starts
        if starts.is_deleted(topic, index, position, call.responded):
            if starts.times_expired:
                self.world.count(Situation.FETCHED_EXPIRED)
            self._to_reset.add(key)
            return
        if isinstance(topic, bytes) or len(self.world.model.incarnations[topic]) < 2:
            raise Violation(f"{self.name}: {key} is out of range at {position}")
        self._followed.pop(key, None)
        self._refresh = True

    # ---- waiting

    def may_wait(self, call: Call) -> bool:
        first = self.oldest
        if first is not call:
            return first is not None and self.may_wait(first)
        if not isinstance(call.message, FetchRequest) or self.max_wait_ms < PATIENCE_MS:
            return False
        before_ms = self.world.timeline.now - PATIENCE_MS
        model = self.world.model
        overdue = model.transactions.overdue if self.read_committed else model.overdue
        for (topic, index), at in self._session_positions.items():
            if overdue(topic, index, at, before_ms):
                raise Violation(f"{self.name} waits for {topic!r}-{index}, which has more at {at}")
        return True

    def is_done(self) -> bool:
        """Returns True if it has read all records of live topics."""
        return self.world.model.is_read({k: one.position for k, one in self._followed.items()})
