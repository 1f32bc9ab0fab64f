"""Names of the files in a log folder of Apache Kafka, and in those of its partitions."""

from __future__ import annotations

from pathlib import Path

LOCK = ".lock"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
META_PROPERTIES = "meta.properties"
BOOTSTRAP = "bootstrap.checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"

#: Of a partition.
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"


def is_log_folder(folder: Path) -> bool:
    """Whether Kafka, or its tool, has formatted it."""
    return (folder / META_PROPERTIES).is_file()
