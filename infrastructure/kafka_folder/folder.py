"""KafkaFolder: a log folder of a stopped Apache Kafka 4 (KRaft), read-only.

While it is open, `.lock` is locked for readers, so that Kafka does not start meanwhile.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Self

from infrastructure.kafka_folder import files
from infrastructure.kafka_folder.checkpoints import Place, offsets, properties
from infrastructure.kafka_folder.clean_stop import TAKEN, was_clean
from infrastructure.kafka_folder.folder_lock import held
from infrastructure.kafka_folder.partition_log import PartitionLog
from infrastructure.kafka_folder.refused import FolderRefused, NotStopped, readable

METADATA_TOPIC = "__cluster_metadata"

_FILES = {
    *(files.LOCK, files.CLEAN_SHUTDOWN, files.META_PROPERTIES, files.BOOTSTRAP),
    *(files.RECOVERY_POINTS, files.LOG_STARTS, files.HIGH_WATERMARKS, files.CLEANED),
}
_PARTITION = re.compile(r"([a-zA-Z0-9._-]+)-(\d+)")
#: A partition of a deleted topic, or one that Kafka has moved or does not know.
_LEFT_OVER = re.compile(r"[a-zA-Z0-9._-]+\.[0-9a-f]{32}-(delete|future|stray)")
#: Of a store that serves the folder, or was about to.
_OTTLAS = re.compile(r"(data|lock|new)\.mdb(-lock)?|ottla\..+")
_STORE = "data.mdb"
_CHECKPOINT = re.compile(r"(\d{20})-\d{10}\.checkpoint")
_META_VERSION = "1"


class KafkaFolder:
    def __init__(self, path: Path, cut_tails: bool = False) -> None:
        """`cut_tails`: also one after a crash, without what is torn. Raises FolderRefused."""
        self.path = path
        self._cut_tails = cut_tails
        self._lock = -1
        self.partitions: dict[Place, Path] = {}
        #: Folders that do not belong to the data of a topic.
        self.left_over: list[str] = []
        if not path.is_dir():
            raise FolderRefused(f"{path} is not a folder")
        self._lock = held(path)
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        with readable(self.path):
            names = sorted(one.name for one in self.path.iterdir())
        if files.META_PROPERTIES not in names:
            raise FolderRefused(
                f"{self.path} is not a log folder of Kafka: it has no {files.META_PROPERTIES}"
            )
        meta_path = self.path / files.META_PROPERTIES
        meta = properties(meta_path)
        if meta.get("version") != _META_VERSION:
            raise FolderRefused(
                f"{meta_path} has version {meta.get('version')}: only folders of Kafka 4 "
                f"(KRaft), version {_META_VERSION}, are read"
            )
        self.cluster_id, self.node_id = meta.get("cluster.id", ""), meta.get("node.id", "")
        #: Of a copy of the folder, too.
        self.directory_id = meta.get("directory.id", "")
        if not self.cluster_id or not self.node_id.isdigit():
            raise FolderRefused(f"{meta_path} lacks cluster.id or node.id")
        with readable(self.path):
            self._was_clean = was_clean(self.path)
        self._cut_tails = self._cut_tails and not self._was_clean
        if not self._was_clean and _STORE in names and TAKEN not in names:
            raise FolderRefused(
                f"{self.path} was served by Ottla since Kafka has stopped: `ottla storage copy "
                f"files://{self.path} TARGET` copies what it has now"
            )
        if not self._was_clean and not self._cut_tails:
            raise NotStopped(
                f"{self.path} was not stopped cleanly: it has no {files.CLEAN_SHUTDOWN}; start "
                "and stop Kafka once"
            )
        for name in names:
            self._add(name)
        if (METADATA_TOPIC, 0) not in self.partitions:
            raise FolderRefused(f"{self.path} has no {METADATA_TOPIC}-0, which knows the topics")
        self._starts = offsets(self.path / files.LOG_STARTS)
        self._ends = offsets(self.path / files.RECOVERY_POINTS)
        self._cleaned = offsets(self.path / files.CLEANED)
        self._high_watermarks = offsets(self.path / files.HIGH_WATERMARKS)

    def _add(self, name: str) -> None:
        path = self.path / name
        found = _PARTITION.fullmatch(name)
        if found is not None and path.is_dir():
            self.partitions[found[1], int(found[2])] = path
        elif name in _FILES or name.endswith(".tmp") or _OTTLAS.fullmatch(name):
            return
        elif _LEFT_OVER.fullmatch(name) and path.is_dir():
            self.left_over.append(name)
        else:
            raise FolderRefused(f"{path} is not a file of Kafka's")

    def log(self, place: Place) -> PartitionLog:
        """Raises FolderRefused."""
        start_offset = self._starts.get(place, 0)
        return PartitionLog(self.partitions[place], start_offset, self._cut_tails)

    def cleaned_offset(self, place: Place) -> int:
        """Below it the log was compacted."""
        return self._cleaned.get(place, 0)

    def stopped_at(self, place: Place) -> int | None:
        """The end of a log when Kafka stopped cleanly; None: it is not known."""
        return self._ends.get(place) if self._was_clean else None

    def check_end(self, place: Place, log: PartitionLog, end_offset: int) -> None:
        """Raises FolderRefused if the log was longer when Kafka stopped."""
        log.check_end(end_offset)
        if not self._was_clean or place[0] == METADATA_TOPIC:
            return
        stopped_at = self._ends.get(place)
        if stopped_at is None:
            raise FolderRefused(f"{self.path / files.RECOVERY_POINTS} lacks {place[0]}-{place[1]}")
        if stopped_at != end_offset:
            raise FolderRefused(
                f"{log.folder} is cut off or changed: it ends at offset {end_offset}, and ended at "
                f"{stopped_at} when Kafka stopped"
            )

    def check_replicated(self, place: Place, log: PartitionLog, end_offset: int) -> None:
        """Raises FolderRefused if other nodes may lack the end of a log, or have another one."""
        high_watermark = self._high_watermarks.get(place, 0)
        if high_watermark < end_offset:
            raise FolderRefused(
                f"{log.folder} ends at offset {end_offset}, and only those below {high_watermark} "
                "were on all replicas: wait until they are in sync before the nodes are stopped"
            )

    def metadata_snapshot(self) -> tuple[int, Path] | None:
        """The newest one, and the first offset of the metadata log that it does not have."""
        folder = self.partitions[METADATA_TOPIC, 0]
        with readable(folder):
            names = [one.name for one in folder.iterdir() if _CHECKPOINT.fullmatch(one.name)]
        if not names:
            return None
        newest = max(names)
        return int(newest.partition("-")[0]), folder / newest

    def check_unused(self) -> None:
        """Raises FolderRefused if Kafka was started since. A folder without `.lock`, which Kafka
        removes when it stops, cannot be locked without writing to it.
        """
        if self._lock < 0 and (self.path / files.LOCK).exists():
            raise FolderRefused(f"{self.path}: Kafka was started meanwhile")
        if self._was_clean and not was_clean(self.path):
            raise FolderRefused(f"{self.path}: Kafka was started meanwhile")

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
