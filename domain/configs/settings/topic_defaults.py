"""What topics are given that do not say otherwise: the counterparts of their configs."""

from __future__ import annotations

from domain.configs.settings.definition import LONG_MAX, Effect, Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind
PARTLY, LATER, NONE = Effect.PARTLY, Effect.LATER, Effect.NONE

COMPRESSION_TYPES = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
CLEANUP_POLICIES = ("compact", "delete")
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")

_RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
_ROLL = ("log.roll.ms", "log.roll.hours")
_JITTER = ("log.roll.jitter.ms", "log.roll.jitter.hours")


class TopicDefaults:
    log_cleanup_policy: tuple[str, ...] = setting(
        "log.cleanup.policy",
        LIST,
        ("delete",),
        "Default of cleanup.policy.",
        choices=CLEANUP_POLICIES,
        dynamic=True,
        effect=PARTLY,
    )
    log_message_timestamp_type: str = setting(
        "log.message.timestamp.type",
        STRING,
        "CreateTime",
        "Default of message.timestamp.type.",
        choices=TIMESTAMP_TYPES,
        dynamic=True,
    )
    log_message_timestamp_before_max_ms: int = setting(
        "log.message.timestamp.before.max.ms",
        LONG,
        LONG_MAX,
        "Default of message.timestamp.before.max.ms.",
        minimum=0,
        unit="ms",
        dynamic=True,
    )
    log_message_timestamp_after_max_ms: int = setting(
        "log.message.timestamp.after.max.ms",
        LONG,
        3600000,
        "Default of message.timestamp.after.max.ms.",
        minimum=0,
        unit="ms",
        dynamic=True,
    )
    log_retention_ms: int | None = setting(
        "log.retention.ms",
        LONG,
        None,
        "Default of retention.ms; without it log.retention.minutes decides.",
        minimum=-1,
        unit="ms",
        dynamic=True,
        effect=LATER,
        synonyms=_RETENTION,
        anyway=-1,
    )
    log_retention_minutes: int | None = setting(
        "log.retention.minutes",
        INT,
        None,
        "Default of retention.ms, in minutes; without it log.retention.hours decides.",
        minimum=-1,
        unit="minutes",
        effect=LATER,
        synonyms=_RETENTION,
        anyway=-1,
    )
    log_retention_hours: int = setting(
        "log.retention.hours",
        INT,
        168,
        "Default of retention.ms, in hours.",
        minimum=-1,
        unit="hours",
        effect=LATER,
        synonyms=_RETENTION,
        anyway=-1,
    )
    log_retention_bytes: int = setting(
        "log.retention.bytes",
        LONG,
        -1,
        "Default of retention.bytes.",
        unit="bytes",
        dynamic=True,
        effect=LATER,
    )
    log_segment_bytes: int = setting(
        "log.segment.bytes",
        INT,
        1073741824,
        "Default of segment.bytes.",
        minimum=1048576,
        unit="bytes",
        dynamic=True,
        effect=LATER,
    )
    log_roll_ms: int | None = setting(
        "log.roll.ms",
        LONG,
        None,
        "Default of segment.ms; without it log.roll.hours decides.",
        minimum=1,
        unit="ms",
        dynamic=True,
        effect=LATER,
        synonyms=_ROLL,
    )
    log_roll_hours: int = setting(
        "log.roll.hours",
        INT,
        168,
        "Default of segment.ms, in hours.",
        minimum=1,
        unit="hours",
        effect=LATER,
        synonyms=_ROLL,
    )
    log_roll_jitter_ms: int | None = setting(
        "log.roll.jitter.ms",
        LONG,
        None,
        "Default of segment.jitter.ms; without it log.roll.jitter.hours decides.",
        minimum=0,
        unit="ms",
        dynamic=True,
        effect=NONE,
        synonyms=_JITTER,
    )
    log_roll_jitter_hours: int = setting(
        "log.roll.jitter.hours",
        INT,
        0,
        "Default of segment.jitter.ms, in hours.",
        minimum=0,
        unit="hours",
        effect=NONE,
        synonyms=_JITTER,
    )
    log_index_size_max_bytes: int = setting(
        "log.index.size.max.bytes",
        INT,
        10485760,
        "Default of segment.index.bytes.",
        minimum=4,
        unit="bytes",
        dynamic=True,
        effect=NONE,
    )
    log_index_interval_bytes: int = setting(
        "log.index.interval.bytes",
        INT,
        4096,
        "Default of index.interval.bytes.",
        minimum=0,
        unit="bytes",
        dynamic=True,
        effect=NONE,
    )
    log_flush_interval_messages: int = setting(
        "log.flush.interval.messages",
        LONG,
        LONG_MAX,
        "Default of flush.messages; `flush` decides for all topics.",
        minimum=1,
        dynamic=True,
        effect=NONE,
    )
    log_flush_interval_ms: int | None = setting(
        "log.flush.interval.ms",
        LONG,
        None,
        "Default of flush.ms; without it log.flush.scheduler.interval.ms decides.",
        minimum=0,
        unit="ms",
        dynamic=True,
        effect=NONE,
        synonyms=("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    )
    log_flush_scheduler_interval_ms: int = setting(
        "log.flush.scheduler.interval.ms",
        LONG,
        LONG_MAX,
        "Default of flush.ms; `flush` decides for all topics.",
        minimum=0,
        unit="ms",
        effect=NONE,
    )
    log_cleaner_delete_retention_ms: int = setting(
        "log.cleaner.delete.retention.ms",
        LONG,
        86400000,
        "Default of delete.retention.ms.",
        minimum=0,
        unit="ms",
        dynamic=True,
        effect=LATER,
    )
    log_cleaner_min_compaction_lag_ms: int = setting(
        "log.cleaner.min.compaction.lag.ms",
        LONG,
        0,
        "Default of min.compaction.lag.ms.",
        minimum=0,
        unit="ms",
        dynamic=True,
        effect=LATER,
    )
    log_cleaner_max_compaction_lag_ms: int = setting(
        "log.cleaner.max.compaction.lag.ms",
        LONG,
        LONG_MAX,
        "Default of max.compaction.lag.ms.",
        minimum=1,
        unit="ms",
        dynamic=True,
        effect=LATER,
    )
    log_cleaner_min_cleanable_ratio: float = setting(
        "log.cleaner.min.cleanable.ratio",
        DOUBLE,
        0.5,
        "Default of min.cleanable.dirty.ratio.",
        minimum=0,
        maximum=1,
        dynamic=True,
        effect=LATER,
    )
    log_segment_delete_delay_ms: int = setting(
        "log.segment.delete.delay.ms",
        LONG,
        60000,
        "Default of file.delete.delay.ms.",
        minimum=0,
        unit="ms",
        dynamic=True,
        effect=NONE,
    )
    log_preallocate: bool = setting(
        "log.preallocate",
        BOOLEAN,
        False,
        "Default of preallocate.",
        dynamic=True,
        effect=NONE,
    )
    log_local_retention_ms: int = setting(
        "log.local.retention.ms",
        LONG,
        -2,
        "Default of local.retention.ms.",
        minimum=-2,
        unit="ms",
        dynamic=True,
        effect=NONE,
    )
    log_local_retention_bytes: int = setting(
        "log.local.retention.bytes",
        LONG,
        -2,
        "Default of local.retention.bytes.",
        minimum=-2,
        unit="bytes",
        dynamic=True,
        effect=NONE,
    )
    min_insync_replicas: int = setting(
        "min.insync.replicas",
        INT,
        1,
        "Default of the topic config of the same name.",
        minimum=1,
        dynamic=True,
        effect=NONE,
    )
    unclean_leader_election_enable: bool = setting(
        "unclean.leader.election.enable",
        BOOLEAN,
        False,
        "Default of the topic config of the same name.",
        dynamic=True,
        effect=NONE,
    )
    compression_type: str = setting(
        "compression.type",
        STRING,
        "producer",
        "Default of the topic config of the same name.",
        choices=COMPRESSION_TYPES,
        dynamic=True,
        effect=LATER,
    )
    compression_gzip_level: int = setting(
        "compression.gzip.level",
        INT,
        -1,
        "Default of the topic config of the same name.",
        minimum=1,
        maximum=9,
        also=-1,
        dynamic=True,
        effect=LATER,
    )
    compression_lz4_level: int = setting(
        "compression.lz4.level",
        INT,
        9,
        "Default of the topic config of the same name.",
        minimum=1,
        maximum=17,
        dynamic=True,
        effect=LATER,
    )
    compression_zstd_level: int = setting(
        "compression.zstd.level",
        INT,
        3,
        "Default of the topic config of the same name.",
        minimum=-131072,
        maximum=22,
        dynamic=True,
        effect=LATER,
    )
