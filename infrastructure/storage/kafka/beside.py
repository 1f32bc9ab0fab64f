"""KafkaBeside: the folder of a stopped Kafka as a store that is read, without a copy of it.

Partition ids are places in the sorted list of its partitions, so that the processes of a query
agree on them without reading the metadata log.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from domain.errors import StorageFailed
from domain.topics.topic import Topic
from infrastructure.kafka_folder.checkpoints import Place
from infrastructure.kafka_folder.cluster_image import TOPIC, TopicImage, read_cluster
from infrastructure.kafka_folder.folder import METADATA_TOPIC, KafkaFolder
from infrastructure.kafka_folder.partition_log import PartitionLog
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.kafka_folder.time_index import TimeIndex
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.files.entries import entries_of
from infrastructure.storage.files.headers import Damaged
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.open_files import OpenFiles, most_open_files
from infrastructure.storage.files.rows import LogRow
from infrastructure.storage.files.segment import Segment


class _Log(NamedTuple):
    start_offset: int
    files: LogFiles


class KafkaBeside:
    """Implements infrastructure.opening.Beside; its methods raise StorageUnusable or StorageFailed.

    Kafka cannot start before it is closed.
    """

    def __init__(self, path: Path) -> None:
        with _in_words():
            self._folder = KafkaFolder(path)
        self._files = OpenFiles(most_open_files(), read_only=True)
        #: By partition id; those behind the folders of this one are elsewhere.
        self._places = sorted(one for one in self._folder.partitions if one[0] != METADATA_TOPIC)
        self._logs: dict[int, _Log] = {}
        self.topics = KafkaTopics(self._folder, self._places)
        self.log = KafkaLogs(self)

    def bounds(self, partition_id: int) -> tuple[int, int]:
        """Log start offset and log end offset."""
        log = self.opened(partition_id)
        return log.start_offset, max(log.start_offset, log.files.row.end_offset)

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        """Entries of one or several batches, each with its last offset."""
        with _in_words():
            if offset >= end_offset:
                return []
            return entries_of(self.opened(partition_id).files, offset, end_offset, max_bytes)

    def opened(self, partition_id: int) -> _Log:
        log = self._logs.get(partition_id)
        if log is None:
            with _in_words():
                log = self._logs[partition_id] = self._open(partition_id)
        return log

    def _open(self, partition_id: int) -> _Log:
        place = self._places[partition_id]
        if place not in self._folder.partitions:
            raise FolderRefused(
                f"{self._folder.path} has no folder {place[0]}-{place[1]}: is it in another of "
                "log.dirs, or of another node?"
            )
        log = self._folder.log(place)
        folder = str(log.folder)
        segments = [
            Segment(self._files, folder, one.base_offset, one.size_bytes) for one in log.segments
        ]
        end_offset = self._end(place, log, segments)
        last = log.segments[-1]
        row = LogRow(
            log.segments[0].base_offset, last.base_offset, last.size_bytes, end_offset, (), None
        )
        return _Log(log.start_offset, LogFiles(partition_id, folder, row, segments))

    def _end(self, place: Place, log: PartitionLog, segments: list[Segment]) -> int:
        """Raises FolderRefused if the log was longer when Kafka stopped."""
        try:
            end_offset = max(segments[-1].base_offset, segments[-1].known_end_offset())
        except Damaged:
            stopped_at = self._folder.stopped_at(place)
            if stopped_at is None:
                raise
            return stopped_at  # reading finds the damage
        self._folder.check_end(place, log, end_offset)
        return end_offset

    def close(self) -> None:
        self._files.close()
        self._folder.close()


class KafkaTopics:
    """Those of the cluster, also internal ones, from the metadata log."""

    def __init__(self, folder: KafkaFolder, places: list[Place]) -> None:
        self._folder = folder
        self._places = places
        self._by_place = {place: number for number, place in enumerate(places)}
        self._loaded: list[Topic] | None = None

    def load(self) -> list[Topic]:
        if self._loaded is None:
            with _in_words():
                image = read_cluster(self._folder)
                self._loaded = [
                    Topic(
                        topic.name,
                        topic.topic_id,
                        self._ids(topic),
                        image.configs.get((TOPIC, topic.name), {}),
                    )
                    for topic in image.topics.values()
                ]
        return self._loaded

    def _ids(self, topic: TopicImage) -> tuple[int, ...]:
        return tuple(self._id((topic.name, number), topic) for number in sorted(topic.partitions))

    def _id(self, place: Place, topic: TopicImage) -> int:
        path = self._folder.partitions.get(place)
        if path is None:
            self._places.append(place)
            return len(self._places) - 1
        if self._folder.log(place).topic_id != topic.topic_id:
            raise FolderRefused(f"{path} belongs to another topic of this name")
        return self._by_place[place]


class KafkaLogs:
    """Headers, and searches by time."""

    def __init__(self, store: KafkaBeside) -> None:
        self._store = store

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        with _in_words():
            return self._store.opened(partition_id).files.headers(offset, limit)

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        """An offset at, or close before, the first batch with a timestamp >= `timestamp`."""
        files = self._store.opened(partition_id).files
        with _in_words():
            for segment in files.segments:
                index = TimeIndex(segment.path_of(".timeindex"))
                # The entry with the largest timestamp is written when a segment ends.
                is_active = segment is files.segments[-1]
                if is_active or not index.ends_before(timestamp):
                    return segment.file_base + index.offset_before(timestamp)
        return files.row.end_offset


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except FolderRefused as refusal:
        raise StorageUnusable(str(refusal)) from None
    except (OSError, ValueError) as error:
        raise StorageFailed(f"The folder of Kafka could not be read: {error}") from error
