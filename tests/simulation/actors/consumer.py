"""A consumer of all there is: long polls, with and without a fetch session, by name and by id."""

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
from tests.simulation.actors.client import PATIENCE_MS, Asked, Client
from tests.simulation.model import Entry, Violation

if TYPE_CHECKING:
    from tests.simulation.world import World

OUT_OF_RANGE, UNKNOWN, STORAGE, UNKNOWN_ID, UNKNOWN_SESSION = 1, 3, 56, 100, 70
FIRST_WITH_SESSIONS = 7
BY_ID = 13
NO_ID = bytes(16)
LATEST, EARLIEST = -1, -2


class Followed:
    """A partition and where the consumer stands in it."""

    __slots__ = ("index", "name", "position", "topic_id")

    def __init__(self, name: str, topic_id: bytes, index: int) -> None:
        self.name = name
        self.topic_id = topic_id
        self.index = index
        self.position = 0


Key = tuple[str | bytes, int]


class Consumer(Client):
    has_to_finish = False

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        random = self.random
        self.version = random.choice((4, 6, 7, 11, 12, 13, 17, 18))
        self.uses_session = self.version >= FIRST_WITH_SESSIONS and random.random() < 0.7
        self.max_wait_ms = random.choice((0, 5, 100, 400, 60_000))
        self.min_bytes = random.choice((1, 1, 1, 300)) if self.max_wait_ms <= 100 else 1
        self.max_bytes = random.choice((1, 600, 1 << 20))
        self.partition_max_bytes = random.choice((1, 300, 1 << 20))
        #: How often it asks for something else on the connection on which a fetch waits.
        self.pipelines = random.choice((0.0, 0.0, 0.3))
        self.seen: dict[Key, list[Entry]] = {}
        self._followed: dict[Key, Followed] = {}
        self._asking = False
        self._refresh = True
        #: Where it stood below the start of the log.
        self._to_reset: set[Key] = set()
        self._session_id = 0
        self._session_epoch = 0
        #: What the broker's session knows: the position of each partition it was told.
        self._told: dict[Key, int] = {}
        self._patrol()

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        count = 3 if world.crowded else world.random.choice((1, 1, 2))
        return [cls(world, f"c{number}") for number in range(count)]

    def _patrol(self) -> None:
        """New partitions are found now and then, as with `metadata.max.age.ms`."""
        if not self.finished:
            self._refresh = True
            if self.max_wait_ms > PATIENCE_MS and not self._follows_all():
                self.hang_up()
            self.world.timeline.after(self.random.choice((100, 300)), self._patrol)

    def _follows_all(self) -> bool:
        return all(
            ((topic.topic_id if self.version >= BY_ID else topic.name), index) in self._followed
            for topic in self.world.model.live()
            for index in range(len(topic.partition_ids))
        )

    # ---- what to do next

    def go_on(self) -> None:
        if self._asking:
            return
        if self._refresh:
            self._ask_for_topics()
        elif not self._followed:
            self._refresh = True
            self.later(30)
        elif self._to_reset:
            self._ask_for_start(self._to_reset.pop())
        elif self.random.random() < 0.1:
            self._ask_for_end()
        else:
            self._fetch()

    def lost(self, asked: list[Asked]) -> None:
        self._asking = False
        self._session_epoch = 0
        self._told.clear()

    def _ask_for_topics(self) -> None:
        self._asking = True
        wanted = [MetadataRequestTopic(name=name) for name in self.world.topic_names]
        self.ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), 12, self._listed)

    def _listed(self, asked: Asked, answer: MetadataResponse) -> None:
        self._asking = self._refresh = False
        topics = self.world.known_topics(asked, answer)
        wanted: dict[Key, Followed] = {}
        for name, (topic_id, count) in topics.items():
            for index in range(count):
                key: Key = (topic_id if self.version >= BY_ID else name, index)
                known = self._followed.get(key)
                if known is None or known.topic_id != topic_id:
                    known = Followed(name, topic_id, index)
                    self.seen[key] = []
                wanted[key] = known
        self._followed = wanted
        self.go_on()

    def _ask_for_end(self) -> None:
        key = self.random.choice(list(self._followed))
        one = self._followed[key]
        self._asking = True
        partition = ListOffsetsPartition(partition_index=one.index, timestamp=LATEST)
        topics = [ListOffsetsTopic(name=one.name, partitions=[partition])]
        self.ask(ListOffsetsRequest(replica_id=-1, topics=topics), 5, self._end_told)

    def _end_told(self, asked: Asked, answer: ListOffsetsResponse) -> None:
        self._asking = False
        topic = answer.topics[0]
        one = topic.partitions[0]
        if one.error_code == 0:
            self.world.model.end_told(
                topic.name, one.partition_index, one.offset, asked.asked, asked.told
            )
        elif one.error_code == UNKNOWN:
            self._unknown(topic.name, one.partition_index, asked)
        elif one.error_code == STORAGE:
            self.could_not_be_read(topic.name, one.partition_index, asked)
        else:
            raise Violation(f"ListOffsets was answered with {one.error_code}")
        self.go_on()

    def _ask_for_start(self, key: Key) -> None:
        """What `auto.offset.reset=earliest` does."""
        one = self._followed.get(key)
        if one is None:
            self.later(1)
            return
        self._asking = True
        partition = ListOffsetsPartition(partition_index=one.index, timestamp=EARLIEST)
        topics = [ListOffsetsTopic(name=one.name, partitions=[partition])]
        self.ask(
            ListOffsetsRequest(replica_id=-1, topics=topics),
            5,
            lambda asked, answer: self._start_told(asked, answer, key, one),
        )

    def _start_told(
        self, asked: Asked, answer: ListOffsetsResponse, key: Key, one: Followed
    ) -> None:
        self._asking = False
        topic = answer.topics[0]
        told = topic.partitions[0]
        starts = self.world.model.starts
        if told.error_code == 0:
            starts.start_told(topic.name, one.index, told.offset, asked.asked, asked.told)
            if starts.is_possible(key[0], one.index, told.offset, asked.asked, asked.told):
                one.position = max(one.position, told.offset)
            else:
                self._refresh = True
        elif told.error_code == UNKNOWN:
            self._unknown(topic.name, one.index, asked)
        elif told.error_code == STORAGE:
            self.could_not_be_read(topic.name, one.index, asked)
        else:
            raise Violation(f"ListOffsets was answered with {told.error_code}")
        self.later(self.random.choice((1, 20)))

    # ---- fetching

    def _fetch(self) -> None:
        self._asking = True
        continues = self.uses_session and self._session_epoch > 0
        changed = [
            (key, one)
            for key, one in self._followed.items()
            if not continues or self._told.get(key) != one.position
        ]
        forgotten = [key for key in self._told if key not in self._followed] if continues else []
        if not continues:
            self._told.clear()
        for key in forgotten:
            del self._told[key]
        for key, one in changed:
            self._told[key] = one.position
        request = FetchRequest(
            max_wait_ms=self.max_wait_ms,
            min_bytes=self.min_bytes,
            max_bytes=self.max_bytes,
            session_id=self._session_id,
            session_epoch=self._session_epoch if self.uses_session else -1,
            topics=[self._wanted(one) for _, one in changed],
            forgotten_topics_data=[self._forgotten(key) for key in forgotten],
        )
        positions = {key: one.position for key, one in self._followed.items()}
        self.ask(request, self.version, lambda asked, got: self._fetched(asked, got, positions))
        while self.random.random() < self.pipelines:
            self.ask(MetadataRequest(topics=None), 12, self.world.known_topics)

    def _wanted(self, one: Followed) -> FetchTopic:
        by_id = self.version >= BY_ID
        wanted = FetchPartition(
            partition=one.index,
            fetch_offset=one.position,
            partition_max_bytes=self.partition_max_bytes,
        )
        return FetchTopic(
            topic="" if by_id else one.name,
            topic_id=one.topic_id if by_id else NO_ID,
            partitions=[wanted],
        )

    def _forgotten(self, key: Key) -> ForgottenTopic:
        topic, index = key
        if isinstance(topic, bytes):
            return ForgottenTopic(topic_id=topic, partitions=[index])
        return ForgottenTopic(topic=topic, partitions=[index])

    def _fetched(self, asked: Asked, answer: FetchResponse, positions: dict[Key, int]) -> None:
        self._asking = False
        if answer.error_code:
            raise Violation(f"{self.name}: Fetch was answered with {answer.error_code}")
        if self.uses_session:
            self._session_id = answer.session_id
            if answer.session_id == 0:
                self._session_epoch = 0
            else:
                self._session_epoch += 1
        behind = [key for key, at in positions.items() if self._was_behind(key, at, asked)]
        failed = got_records = False
        for topic in answer.responses:
            named = topic.topic_id if self.version >= BY_ID else topic.topic
            for one in topic.partitions:
                key: Key = (named, one.partition_index)
                if key not in positions:
                    raise Violation(f"{self.name} was told of {key}, which it does not follow")
                failed = failed or one.error_code != 0
                got_records = got_records or bool(one.records)
                self._partition(key, positions[key], one, asked)
        # A broker that stops does not wait for records to be loaded.
        if behind and not got_records and not failed and not asked.line.is_closing():
            raise Violation(f"{self.name} got nothing, and there was something in {behind}")
        if failed or (not got_records and self.max_wait_ms < 100):
            self.later(self.random.choice((5, 20)))
        else:
            self.go_on()

    def _was_behind(self, key: Key, position: int, asked: Asked) -> bool:
        """There was surely something to read when it asked."""
        return self.world.model.had_more(key[0], key[1], position, asked.asked)

    def _partition(self, key: Key, position: int, one: PartitionData, asked: Asked) -> None:
        model = self.world.model
        topic, index = key
        if one.error_code == 0:
            model.starts.fetched(
                topic, index, position, one.log_start_offset, asked.asked, asked.told
            )
            entries = model.fetched(
                topic, index, position, one.high_watermark, bytes(one.records or b""),
                asked.asked, asked.told,
            )  # fmt: skip
            followed = self._followed.get(key)
            if entries and followed is not None and followed.position == position:
                followed.position = entries[-1].last + 1
                self.seen[key] += entries
        elif one.error_code in (UNKNOWN, UNKNOWN_ID):
            self._unknown(topic, index, asked)
        elif one.error_code == OUT_OF_RANGE:
            self._out_of_range(key, position, asked)
        elif one.error_code == STORAGE:
            self.could_not_be_read(topic, index, asked)
        else:
            raise Violation(f"{self.name}: {key} was answered with {one.error_code}")

    def _unknown(self, topic: str | bytes, index: int, asked: Asked) -> None:
        self.world.model.refused_as_unknown(topic, index, asked.asked, asked.told)
        self._refresh = True

    def _out_of_range(self, key: Key, position: int, asked: Asked) -> None:
        """Right where records were deleted, or for a name that was given to another topic."""
        topic, index = key
        if self.world.model.starts.is_deleted(topic, index, position, asked.told):
            self._to_reset.add(key)
            return
        if isinstance(topic, bytes) or len(self.world.model.incarnations[topic]) < 2:
            raise Violation(f"{self.name}: {key} is said to have lost what it had at {position}")
        self._followed.pop(key, None)
        self._refresh = True

    # ---- patience

    def may_wait(self, asked: Asked) -> bool:
        first = self.oldest
        if first is not asked:
            return first is not None and self.may_wait(first)
        if not isinstance(asked.message, FetchRequest) or self.max_wait_ms < PATIENCE_MS:
            return False
        before_ms = self.world.timeline.now - PATIENCE_MS
        model = self.world.model
        for (topic, index), at in self._told.items():
            if model.overdue(topic, index, at, before_ms):
                raise Violation(f"{self.name} waits for {topic!r}-{index}, which has more at {at}")
        return True

    def is_content(self) -> bool:
        """Whether it has read all there is, and of nothing that is no more."""
        return self.world.model.is_read({k: one.position for k, one in self._followed.items()})
