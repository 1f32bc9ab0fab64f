"""RawStream: the records of one partition as a stream of frames, for clients of raw listeners.

    append      stages a batch; its positions are known, and durable with it, if the index is up to
                date; else once the index has reached it
    read        frames from an offset on, as far as the index reaches
    index       decodes the batches that other producers have appended, and stages their positions

Nobody gets to know a position that is not durable. The index is brought up to date while clients of
the stream need it, so it costs nothing otherwise.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from application.background.job import COMMIT, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.partitions.opened_batch import open_batch
from application.partitions.produce import ProduceService
from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.event_log import EventLog
from application.ports.log_store import Buffer, LogStore
from application.ports.stream_index import StreamIndex
from application.state.catalog import Catalog
from application.state.commits import Commits
from application.state.fetch_purgatory import FetchPurgatory
from application.streams.blocks import Block, Blocks, block_of
from domain.errors import (
    BrokerError,
    MessageTooLarge,
    NotLeaderOrFollower,
    OffsetOutOfRange,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.messages.batch import CONTROL, RecordBatch, batches_in
from domain.partitions.partition import Partition
from domain.streams.batch import batch_of
from domain.streams.chunk import Chunk
from domain.streams.frames import Frames, frames_of, read_frames
from domain.topics.topic import Topic

#: Bytes of batches that are decoded at once: for the index, and for consumers.
INDEX_BYTES, READ_BYTES = 64 * 1024, 256 * 1024
#: The partition of its topic that a stream is.
PARTITION = 0
#: In place of an offset, below all.
REMOVED = -1


@dataclass(frozen=True)
class StreamParts:
    """What streams need of the broker."""

    catalog: Catalog
    log: LogStore
    index: StreamIndex
    produce: ProduceService
    commits: Commits
    purgatory: FetchPurgatory
    background: Runner
    clock: Clock
    checksum: Checksum
    compression: Compression
    events: EventLog
    #: A start whose record was removed is the oldest record; otherwise it is refused.
    from_oldest: bool


class InvalidStart(Exception):
    """No record begins at the position."""


class Place(NamedTuple):
    offset: int
    position: int


class Follower(Protocol):
    def advanced(self) -> None:
        """The stream has more records, or has ended."""
        ...


class Producer(Protocol):
    def staged(self, count: int) -> None:
        """So many records are staged, in one batch."""
        ...

    def placed(self, count: int, positions: Sequence[int] | BrokerError) -> None:
        """The next staged batch: the positions of its records, or why it is lost."""
        ...


class Appended(NamedTuple):
    """A staged batch."""

    by: Producer
    records: int
    #: For consumers, if some wait.
    frames: bytes


class RawStream:
    def __init__(self, parts: StreamParts, topic: Topic) -> None:
        """Raises NotInMemory, or a BrokerError if the partition cannot be used."""
        self._parts = parts
        self.topic = topic
        partition = parts.catalog.partition(topic, PARTITION, waits=False)
        assert partition is not None
        #: The stream ends with it: another leader may have changed the index before it comes back.
        self.partition = partition
        #: The last pass of compaction that the blocks were read after.
        self._cleaned = partition.cleaned
        newest = parts.index.newest(partition.partition_id)
        start = Place(partition.log_start_offset, 0)
        if newest is not None:
            start = Place(self._end_of_batch(partition, newest.next_offset), newest.end)
        #: Where the index ends, and where it ends after the next commit.
        self._durable = self._staged = start
        #: By the first offset of their batch, in order; a dict scans deleted entries for its first.
        self._appended: OrderedDict[int, Appended] = OrderedDict()
        self._followers: dict[Follower, None] = {}
        self._blocks = Blocks()

    def _end_of_batch(self, partition: Partition, end_offset: int) -> int:
        """Behind the batch of the last record: compaction may have removed later ones."""
        headers = self._parts.log.headers(partition.partition_id, end_offset - 1, 1)
        batches = [RecordBatch(memoryview(each)) for each in headers]
        ends = [one.last_offset + 1 for one in batches if one.base_offset < end_offset]
        return max([end_offset, *ends])

    def _partition(self) -> Partition:
        catalog = self._parts.catalog
        if catalog.topic_by_id(self.topic.topic_id) is None:
            raise UnknownTopicOrPartition(f"The topic {self.topic.name} was deleted")
        if catalog.partition(self.topic, PARTITION, waits=False) is not self.partition:
            # This node leads again, with another object.
            raise NotLeaderOrFollower(message="The leader has changed since the stream was opened.")
        return self.partition

    # ---- appending

    def append(self, values: Sequence[bytes | memoryview], by: Producer) -> None:
        """Raises NotInMemory before anything is staged, or a BrokerError: a part may be stored."""
        self._parts.produce.check_room()
        self._append(values, by)

    def _append(self, values: Sequence[bytes | memoryview], by: Producer) -> None:
        parts, partition = self._parts, self._partition()
        batch = batch_of(values, parts.clock.now_ms(), parts.checksum)
        appended = parts.produce.append(partition, memoryview(batch), True, waits=False)
        if isinstance(appended, MessageTooLarge) and len(values) > 1:
            half = len(values) // 2
            self._append(values[:half], by)
            self._append(values[half:], by)
            return
        if isinstance(appended, BrokerError):
            raise appended
        by.staged(len(values))
        frames = frames_of(values) if self._followers else b""
        self._appended[appended.base_offset] = Appended(by, len(values), frames)
        if appended.base_offset == self._staged.offset:
            sizes = list(map(len, values))
            chunk = Chunk(self._staged.position, appended.base_offset, sizes)
            self._stage([chunk], chunk.next_offset)
        else:
            parts.commits.wait(self._bring_up_to_date)

    def _stage(self, chunks: list[Chunk], next_offset: int) -> None:
        position = chunks[-1].end if chunks else self._staged.position
        self._staged = place = Place(next_offset, position)
        for chunk in chunks:
            self._parts.index.add(self.partition.partition_id, chunk)
        self._parts.commits.when_committed(partial(self._committed, chunks, place))

    def _committed(self, chunks: list[Chunk], place: Place, failure: StorageFailed | None) -> None:
        if failure is not None:
            self._lose(failure)
            return
        self._durable = place
        for chunk in chunks:
            self._give_up_below(chunk.first_offset)
            appended = self._appended.pop(chunk.first_offset, None)
            if appended is not None:
                appended.by.placed(appended.records, chunk.positions())
                if appended.frames:
                    frames = appended.frames
                    block = Block([frames], len(frames), chunk.next_offset)
                    self._blocks.put(chunk.first_offset, block)
        self._give_up_below(place.offset)
        self._notify()

    def _give_up_below(self, offset: int) -> None:
        """Batches that were deleted before the index reached them have no position."""
        while self._appended and next(iter(self._appended)) < offset:
            first, appended = self._appended.popitem(last=False)
            deleted = OffsetOutOfRange(f"The record at offset {first} was deleted at once")
            appended.by.placed(appended.records, deleted)

    def _lose(self, failure: BrokerError) -> None:
        self._staged = self._durable
        lost, self._appended = self._appended, OrderedDict()
        for appended in lost.values():
            appended.by.placed(appended.records, failure)

    # ---- the index

    def _bring_up_to_date(self, failure: StorageFailed | None = None) -> None:
        if failure is not None:
            self._lose(failure)
        else:
            self._parts.background.start(self._index, pauses=False)

    def _index(self) -> Job[None]:
        while True:
            try:
                following = yield from loaded(self._next_chunks)
                if following is None:
                    return
            except StorageFailed as unreadable:
                yield unreadable.as_value()
            except BrokerError as ended:
                self._lose(ended)
                return
            else:
                self._stage(*following)
                failure = yield COMMIT
                if failure is not None:  # backs off: it would fail all others of each commit
                    yield failure.as_value()

    def _next_chunks(self) -> tuple[list[Chunk], int] | None:
        """Of the next batches, and the offset behind them; None at the end."""
        partition = self._partition()
        place, chunks, end = self._staged, list[Chunk](), partition.high_watermark
        if place.offset >= end:
            return None
        data, reached = self._parts.log.read_to(
            partition.partition_id, place.offset, end, INDEX_BYTES, True
        )
        size_bytes = 0
        for frames, next_offset in self._frames(data, place.offset, self._skipped):
            for first_offset, sizes in frames.runs():
                chunk = Chunk(place.position, first_offset, sizes)
                chunks.append(chunk)
                place = Place(chunk.next_offset, chunk.end)
            size_bytes += frames.size_bytes
            if size_bytes >= READ_BYTES:  # compressed batches may be much larger inside
                return chunks, next_offset
        # Without a batch the rest was removed by retention or compaction.
        return chunks, reached if data else max(end, place.offset)

    def _frames(
        self, data: Buffer, offset: int, skipped: Callable[[int, BrokerError], None]
    ) -> Iterator[tuple[Frames, int]]:
        """Those of each batch, from an offset on, and the offset behind the batch."""
        for batch in batches_in(data):
            if batch.attributes & CONTROL:
                continue
            try:
                payload = bytes(open_batch(batch, self._parts.compression))
                frames = read_frames(
                    payload, batch.base_offset, batch.last_offset_delta, batch.count
                ).since(offset)
            except BrokerError as unreadable:
                skipped(batch.base_offset, unreadable)
                continue
            if frames.sizes:
                yield frames, batch.last_offset + 1

    def _skipped(self, offset: int, error: BrokerError) -> None:
        self._parts.events.warning(
            "stream_batch_skipped",
            topic=self.topic.name,
            partition=PARTITION,
            offset=offset,
            error=error,
        )

    # ---- reading

    def locate(self, position: int) -> int | None:
        """The offset of the record that begins at a position; None: not known yet (`follow`).

        Raises InvalidStart, and as the constructor does.
        """
        partition, end = self._partition(), self._durable
        if position >= end.position:
            if position > end.position and end.offset < partition.high_watermark:
                return None
            if position > end.position:
                raise InvalidStart(f"{position} is beyond the end of the stream, {end.position}")
            return end.offset
        chunk = self._parts.index.above(partition.partition_id, position)
        if chunk is None or position < chunk.start:  # even their positions were removed
            return self._retained(REMOVED, partition)
        offset = chunk.offset_at(position)
        if offset is None:
            raise InvalidStart(f"{position} is within a record")
        return self._retained(offset, partition)

    def _retained(self, offset: int, partition: Partition) -> int:
        start = partition.log_start_offset
        if offset < start and not self._parts.from_oldest:
            raise InvalidStart("the records at the position were removed")
        return max(offset, start)

    def read(self, offset: int) -> Block:
        """Frames of records from an offset on; none at the end.

        Raises NotInMemory, InvalidStart as `locate`, and BrokerError.
        """
        partition, end = self._partition(), self._durable.offset
        offset = self._retained(offset, partition)
        if partition.cleaned is not self._cleaned:  # blocks may have records that it removed
            self._cleaned, self._blocks = partition.cleaned, Blocks()
        block = self._blocks.from_offset(offset, READ_BYTES)
        if block.next_offset == offset < end:
            block = self._read(offset, end, partition)
            self._blocks.put(offset, block)
        partition.traffic.bytes_out += block.size_bytes
        return block

    def _read(self, offset: int, end: int, partition: Partition) -> Block:
        data, reached = self._parts.log.read_to(
            partition.partition_id, offset, end, READ_BYTES, True
        )
        pieces: list[bytes] = []
        size_bytes = 0
        for frames, next_offset in self._frames(data, offset, lambda *_: None):
            pieces += frames.pieces
            size_bytes += frames.size_bytes
            if size_bytes >= READ_BYTES:
                return block_of(pieces, size_bytes, next_offset)
        return block_of(pieces, size_bytes, reached if data else end)

    # ---- followers

    def follow(self, follower: Follower) -> None:
        """Calls back once, when the stream has more records, or has ended."""
        partition = self._partition()
        if not self._followers:
            self._parts.purgatory.watch([partition], self)
        self._followers[follower] = None
        self.advanced(partition)

    def unfollow(self, follower: Follower) -> None:
        if follower in self._followers:
            del self._followers[follower]
            if not self._followers:
                self._parts.purgatory.unwatch([self.partition], self)

    def advanced(self, partition: Partition) -> None:
        """In the purgatory: another producer has appended, or the partition is gone or moved."""
        if not self._parts.catalog.holds(partition):
            self._notify()
        elif self._staged.offset < partition.high_watermark:
            self._bring_up_to_date()

    def finish(self) -> None:
        """The broker is stopping, and closes the connections."""

    def _notify(self) -> None:
        for follower in list(self._followers):
            self.unfollow(follower)
            follower.advanced()
