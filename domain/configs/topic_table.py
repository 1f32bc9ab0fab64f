"""THE table of topic configs: every one that Kafka 4.2 has, with its default and its bounds.

All are accepted, stored and described, whether or not they have an effect here (the table says
which), because tools set them from habit. `broker` names the broker settings whose value is the
default of a topic config, the finest unit first; these settings are made from the same row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from domain.configs.settings.definition import LONG_MAX, Definition, Effect, Kind, Value

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind
BUILT, NO_SEGMENTS = Effect.BUILT, Effect.NO_SEGMENTS
NO_PEERS, NO_COPIES = Effect.NO_PEERS, Effect.NO_COPIES
NO_TIERS, FLUSH = Effect.NO_TIERS, Effect.FLUSH

#: Units of broker settings, by the end of their names; topic configs are in milliseconds.
MS_IN = {"minutes": 60_000, "hours": 3_600_000}
#: A setting of its own in Kafka, that is also a default of flush.ms.
_SCHEDULER = "log.flush.scheduler.interval.ms"


def _row(
    name: str,
    kind: Kind,
    default: Value,
    effect: Effect,
    doc: str,
    *broker: str,
    **facts: Any,
) -> Definition:
    return Definition(
        name, kind, default, doc, effect=effect, dynamic=True, synonyms=broker, **facts
    )


_ROWS = (
    _row("cleanup.policy", LIST, ("delete",), BUILT,
         "What happens to old records: removed by age and size (delete), or all but the newest of "
         "each key (compact); empty: nothing. A compacted topic refuses records without a key.",
         "log.cleanup.policy", choices=("compact", "delete"), also=()),
    _row("compression.gzip.level", INT, -1, BUILT,
         "The level when compression.type is gzip and the broker compresses.",
         "compression.gzip.level", minimum=1, maximum=9, also=-1),
    _row("compression.lz4.level", INT, 9, BUILT,
         "The level when compression.type is lz4 and the broker compresses; 9 is LZ4's fast "
         "compressor, as in Kafka.",
         "compression.lz4.level", minimum=1, maximum=17),
    _row("compression.type", STRING, "producer", BUILT,
         "How batches are compressed in the log; producer: as they arrive. The broker compresses "
         "batches that arrive otherwise.",
         "compression.type",
         choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
    _row("compression.zstd.level", INT, 3, BUILT,
         "The level when compression.type is zstd and the broker compresses.",
         "compression.zstd.level", minimum=-131072, maximum=22),
    _row("delete.retention.ms", LONG, 86400000, BUILT,
         "How long compaction retains the tombstone of a deleted key.",
         "log.cleaner.delete.retention.ms", minimum=0, unit="ms"),
    _row("file.delete.delay.ms", LONG, 60000, NO_SEGMENTS,
         "How long Kafka waits before it removes a file.",
         "log.segment.delete.delay.ms", minimum=0, unit="ms"),
    _row("flush.messages", LONG, LONG_MAX, FLUSH,
         "Kafka flushes a topic to disk after so many records.",
         "log.flush.interval.messages", minimum=1),
    _row("flush.ms", LONG, LONG_MAX, FLUSH,
         "Kafka flushes a topic to disk this often.",
         "log.flush.interval.ms", _SCHEDULER, minimum=0, unit="ms"),
    _row("follower.replication.throttled.replicas", LIST, (), NO_PEERS,
         "Replicas whose replication is throttled on the follower: partition:broker, ... or *."),
    _row("index.interval.bytes", INT, 4096, NO_SEGMENTS,
         "How many bytes lie between two entries of Kafka's offset index.",
         "log.index.interval.bytes", minimum=0, unit="bytes"),
    _row("leader.replication.throttled.replicas", LIST, (), NO_PEERS,
         "Replicas whose replication is throttled on the leader: partition:broker, ... or *."),
    _row("local.retention.bytes", LONG, -2, NO_TIERS,
         "Bytes of a partition that stay local with tiered storage; -2: retention.bytes.",
         "log.local.retention.bytes", minimum=-2, unit="bytes"),
    _row("local.retention.ms", LONG, -2, NO_TIERS,
         "How long records stay local with tiered storage; -2: retention.ms.",
         "log.local.retention.ms", minimum=-2, unit="ms"),
    _row("max.compaction.lag.ms", LONG, LONG_MAX, BUILT,
         "The longest time a record is not compacted, however clean the log is, counted once a "
         "later record has begun a new segment.",
         "log.cleaner.max.compaction.lag.ms", minimum=1, unit="ms"),
    _row("max.message.bytes", INT, 1048588, BUILT,
         "The largest record batch that is accepted, as it arrives (compressed).",
         "message.max.bytes", minimum=0, unit="bytes"),
    _row("message.timestamp.after.max.ms", LONG, 3600000, BUILT,
         "How far a record's timestamp may be ahead of the broker's clock (CreateTime only).",
         "log.message.timestamp.after.max.ms", minimum=0, unit="ms"),
    _row("message.timestamp.before.max.ms", LONG, LONG_MAX, BUILT,
         "How far a record's timestamp may be behind the broker's clock (CreateTime only).",
         "log.message.timestamp.before.max.ms", minimum=0, unit="ms"),
    _row("message.timestamp.type", STRING, "CreateTime", BUILT,
         "Whose clock stamps a record: the producer's (CreateTime), the broker's (LogAppendTime).",
         "log.message.timestamp.type", choices=("CreateTime", "LogAppendTime")),
    _row("min.cleanable.dirty.ratio", DOUBLE, 0.5, BUILT,
         "The share of a log that must be new before it is compacted.",
         "log.cleaner.min.cleanable.ratio", minimum=0, maximum=1),
    _row("min.compaction.lag.ms", LONG, 0, BUILT,
         "The shortest time a record is not compacted.",
         "log.cleaner.min.compaction.lag.ms", minimum=0, unit="ms"),
    _row("min.insync.replicas", INT, 1, BUILT,
         "With storage=postgresql://: copies in PostgreSQL that acks=all requires; other stores "
         "have one replica, and as in Kafka no more are required than a topic has.",
         "min.insync.replicas", minimum=1),
    _row("preallocate", BOOLEAN, False, NO_SEGMENTS,
         "Whether Kafka preallocates a new segment file.",
         "log.preallocate"),
    _row("remote.log.copy.disable", BOOLEAN, False, NO_TIERS,
         "Whether tiered storage stops copying."),
    _row("remote.log.delete.on.disable", BOOLEAN, False, NO_TIERS,
         "Whether tiered data is deleted when tiered storage is disabled."),
    _row("remote.storage.enable", BOOLEAN, False, NO_TIERS,
         "Tiered storage; true is refused."),
    _row("retention.bytes", LONG, -1, BUILT,
         "How many bytes of a partition are retained: the oldest batches are removed as long as "
         "this much remains; -1: no limit.",
         "log.retention.bytes", unit="bytes"),
    _row("retention.ms", LONG, 604800000, BUILT,
         "How long records are retained, by the largest timestamp of their batch; -1: for ever.",
         "log.retention.ms", "log.retention.minutes", "log.retention.hours",
         minimum=-1, unit="ms"),
    _row("segment.bytes", INT, 1073741824, BUILT,
         "The size at which a new segment begins; the active one is not compacted.",
         "log.segment.bytes", minimum=1048576, unit="bytes"),
    _row("segment.index.bytes", INT, 10485760, NO_SEGMENTS,
         "The size of Kafka's index files.",
         "log.index.size.max.bytes", minimum=4, unit="bytes"),
    _row("segment.jitter.ms", LONG, 0, NO_SEGMENTS,
         "The largest random reduction of segment.ms.",
         "log.roll.jitter.ms", "log.roll.jitter.hours", minimum=0, unit="ms"),
    _row("segment.ms", LONG, 604800000, BUILT,
         "The age at which a new segment begins; the active one is not compacted.",
         "log.roll.ms", "log.roll.hours", minimum=1, unit="ms"),
    _row("unclean.leader.election.enable", BOOLEAN, False, NO_COPIES,
         "Whether a replica that is not in sync may become leader.",
         "unclean.leader.election.enable"),
)  # fmt: skip

TOPIC_CONFIGS: dict[str, Definition] = {row.name: row for row in _ROWS}


def not_a_setting(name: str) -> str | None:
    """Why a topic config cannot be set for a broker; None for other names."""
    if (config := TOPIC_CONFIGS.get(name)) is None:
        return None
    setting = f"; the setting for its default is {config.synonyms[0]}" if config.synonyms else ""
    return f"{name} is a topic config{setting}"


def broker_settings() -> Iterator[Definition]:
    """The broker settings that are the defaults of topic configs."""
    for config in _ROWS:
        for number, name in enumerate(config.synonyms, 1):
            unit = name.rpartition(".")[2]
            default, more = config.default, ""
            if number < len(config.synonyms):
                default, more = None, f"; if not set, {config.synonyms[number]} decides"
            elif unit in MS_IN:
                assert isinstance(default, int)
                default //= MS_IN[unit]
            yield Definition(
                name,
                INT if unit in MS_IN else config.kind,
                default,
                f"The default of the topic config {config.name}{more}.",
                minimum=config.minimum,
                maximum=config.maximum,
                also=config.also,
                choices=config.choices,
                unit=unit if unit in MS_IN else config.unit,
                synonyms=() if len(config.synonyms) == 1 or name == _SCHEDULER else config.synonyms,
                dynamic=unit not in MS_IN and name != _SCHEDULER,
                effect=config.effect,
            )
