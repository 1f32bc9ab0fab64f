"""THE table of topic configs: every one that Kafka 4.2 has, with its default and its bounds.

All are accepted, kept and described, whether or not they have an effect here (the table says
which), because tools set them from habit. The default of a topic config is the value of the broker
setting it is a synonym of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from domain.configs.broker import BrokerConfig
from domain.configs.entry import ConfigEntry, topic_entry
from domain.configs.settings.definition import LONG_MAX, Definition, Effect, Kind, Source, Value
from domain.configs.settings.topic_defaults import (
    CLEANUP_POLICIES,
    COMPRESSION_TYPES,
    TIMESTAMP_TYPES,
)
from domain.errors import InvalidConfig

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind
BUILT, PARTLY, LATER, NONE = Effect

_THROTTLED = re.compile(r"\d+:\d+")

# name, kind, default, effect, what it says, facts
_ROWS: tuple[tuple[str, Kind, Value, Effect, str, dict[str, Any]], ...] = (
    (
        "cleanup.policy", LIST, ("delete",), PARTLY,
        ("What happens to old records: removed by age and size (delete), or all but the newest of "
        "each key (compact); nothing is removed yet. A compacted topic refuses records without a "
        "key."),
        {"choices": CLEANUP_POLICIES, "synonyms": ("log.cleanup.policy",)},
    ),
    (
        "compression.gzip.level", INT, -1, LATER,
        "The level when compression.type is gzip.",
        {"minimum": 1, "maximum": 9, "also": -1, "synonyms": ("compression.gzip.level",)},
    ),
    (
        "compression.lz4.level", INT, 9, LATER,
        "The level when compression.type is lz4.",
        {"minimum": 1, "maximum": 17, "synonyms": ("compression.lz4.level",)},
    ),
    (
        "compression.type", STRING, "producer", LATER,
        "How batches are kept compressed; so far as the producer sent them, always.",
        {"choices": COMPRESSION_TYPES, "synonyms": ("compression.type",)},
    ),
    (
        "compression.zstd.level", INT, 3, LATER,
        "The level when compression.type is zstd.",
        {"minimum": -131072, "maximum": 22, "synonyms": ("compression.zstd.level",)},
    ),
    (
        "delete.retention.ms", LONG, 86400000, LATER,
        "How long compaction keeps the mark of a deleted key.",
        {"minimum": 0, "unit": "ms", "synonyms": ("log.cleaner.delete.retention.ms",)},
    ),
    (
        "file.delete.delay.ms", LONG, 60000, NONE,
        "How long Kafka waits before it removes a file.",
        {"minimum": 0, "unit": "ms", "synonyms": ("log.segment.delete.delay.ms",)},
    ),
    (
        "flush.messages", LONG, LONG_MAX, NONE,
        "Kafka forces a topic to the disk after so many records; here the setting `flush` decides.",
        {"minimum": 1, "synonyms": ("log.flush.interval.messages",)},
    ),
    (
        "flush.ms", LONG, LONG_MAX, NONE,
        "Kafka forces a topic to the disk this often; here the setting `flush` decides.",
        {
            "minimum": 0, "unit": "ms",
            "synonyms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
        },
    ),
    (
        "follower.replication.throttled.replicas", LIST, (), NONE,
        "Replicas whose copying is slowed down on the follower: partition:broker, ... or *.",
        {},
    ),
    (
        "index.interval.bytes", INT, 4096, NONE,
        "How many bytes lie between two entries of Kafka's offset index.",
        {"minimum": 0, "unit": "bytes", "synonyms": ("log.index.interval.bytes",)},
    ),
    (
        "leader.replication.throttled.replicas", LIST, (), NONE,
        "Replicas whose copying is slowed down on the leader: partition:broker, ... or *.",
        {},
    ),
    (
        "local.retention.bytes", LONG, -2, NONE,
        "Bytes of a partition kept locally with tiered storage; -2: retention.bytes.",
        {"minimum": -2, "unit": "bytes", "synonyms": ("log.local.retention.bytes",)},
    ),
    (
        "local.retention.ms", LONG, -2, NONE,
        "How long records are kept locally with tiered storage; -2: retention.ms.",
        {"minimum": -2, "unit": "ms", "synonyms": ("log.local.retention.ms",)},
    ),
    (
        "max.compaction.lag.ms", LONG, LONG_MAX, LATER,
        "The longest a record stays safe from compaction.",
        {"minimum": 1, "unit": "ms", "synonyms": ("log.cleaner.max.compaction.lag.ms",)},
    ),
    (
        "max.message.bytes", INT, 1048588, BUILT,
        "The largest batch of records that is accepted, as it arrives (compressed).",
        {"minimum": 0, "unit": "bytes", "synonyms": ("message.max.bytes",)},
    ),
    (
        "message.timestamp.after.max.ms", LONG, 3600000, BUILT,
        "How far ahead of the broker's clock a record's timestamp may lie (CreateTime only).",
        {"minimum": 0, "unit": "ms", "synonyms": ("log.message.timestamp.after.max.ms",)},
    ),
    (
        "message.timestamp.before.max.ms", LONG, LONG_MAX, BUILT,
        "How far behind the broker's clock a record's timestamp may lie (CreateTime only).",
        {"minimum": 0, "unit": "ms", "synonyms": ("log.message.timestamp.before.max.ms",)},
    ),
    (
        "message.timestamp.type", STRING, "CreateTime", BUILT,
        "Whose clock stamps a record: the producer's (CreateTime) or the broker's (LogAppendTime).",
        {"choices": TIMESTAMP_TYPES, "synonyms": ("log.message.timestamp.type",)},
    ),
    (
        "min.cleanable.dirty.ratio", DOUBLE, 0.5, LATER,
        "The share of a log that must be new before it is compacted.",
        {"minimum": 0, "maximum": 1, "synonyms": ("log.cleaner.min.cleanable.ratio",)},
    ),
    (
        "min.compaction.lag.ms", LONG, 0, LATER,
        "The shortest a record stays safe from compaction.",
        {"minimum": 0, "unit": "ms", "synonyms": ("log.cleaner.min.compaction.lag.ms",)},
    ),
    (
        "min.insync.replicas", INT, 1, NONE,
        "Replicas that must have a record before acks=all is answered; one broker is always one.",
        {"minimum": 1, "synonyms": ("min.insync.replicas",)},
    ),
    (
        "preallocate", BOOLEAN, False, NONE,
        "Whether Kafka makes a new segment file as large as it may become.",
        {"synonyms": ("log.preallocate",)},
    ),
    (
        "remote.log.copy.disable", BOOLEAN, False, NONE,
        "Whether tiered storage stops copying.",
        {},
    ),
    (
        "remote.log.delete.on.disable", BOOLEAN, False, NONE,
        "Whether tiered data is deleted when tiered storage is switched off.",
        {},
    ),
    (
        "remote.storage.enable", BOOLEAN, False, NONE,
        "Tiered storage; true is refused.",
        {},
    ),
    (
        "retention.bytes", LONG, -1, LATER,
        "The size a partition may grow to before its oldest records are removed; -1: no bound.",
        {"unit": "bytes", "synonyms": ("log.retention.bytes",)},
    ),
    (
        "retention.ms", LONG, 604800000, LATER,
        "How long records are kept; -1: for ever.",
        {
            "minimum": -1, "unit": "ms", "anyway": -1,
            "synonyms": ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
        },
    ),
    (
        "segment.bytes", INT, 1073741824, LATER,
        "The size at which Kafka begins a new segment.",
        {"minimum": 1048576, "unit": "bytes", "synonyms": ("log.segment.bytes",)},
    ),
    (
        "segment.index.bytes", INT, 10485760, NONE,
        "The size of Kafka's index files.",
        {"minimum": 4, "unit": "bytes", "synonyms": ("log.index.size.max.bytes",)},
    ),
    (
        "segment.jitter.ms", LONG, 0, NONE,
        "How much the time of a new segment may vary in Kafka.",
        {
            "minimum": 0, "unit": "ms",
            "synonyms": ("log.roll.jitter.ms", "log.roll.jitter.hours"),
        },
    ),
    (
        "segment.ms", LONG, 604800000, LATER,
        "The age at which Kafka begins a new segment.",
        {"minimum": 1, "unit": "ms", "synonyms": ("log.roll.ms", "log.roll.hours")},
    ),
    (
        "unclean.leader.election.enable", BOOLEAN, False, NONE,
        "Whether a replica that lags may become leader.",
        {"synonyms": ("unclean.leader.election.enable",)},
    ),
)  # fmt: skip

TOPIC_CONFIGS: dict[str, Definition] = {
    name: Definition(name, kind, default, doc, effect=effect, dynamic=True, **facts)
    for name, kind, default, effect, doc, facts in _ROWS
}


class TopicConfig:
    """What producing and fetching must know of a topic, ready to read; never changed in place."""

    __slots__ = (
        "compacted",
        "deletes",
        "log_append_time",
        "max_message_bytes",
        "timestamp_after_max_ms",
        "timestamp_before_max_ms",
    )

    def __init__(
        self,
        *,
        max_message_bytes: int = 1048588,
        log_append_time: bool = False,
        timestamp_before_max_ms: int = LONG_MAX,
        timestamp_after_max_ms: int = 3600000,
        compacted: bool = False,
        deletes: bool = True,
    ) -> None:
        self.max_message_bytes = max_message_bytes
        self.log_append_time = log_append_time
        self.timestamp_before_max_ms = timestamp_before_max_ms
        self.timestamp_after_max_ms = timestamp_after_max_ms
        self.compacted = compacted
        self.deletes = deletes


def resolve_topic_config(overrides: Mapping[str, str], broker: BrokerConfig) -> TopicConfig:
    def resolved(name: str) -> Any:
        return topic_value(name, overrides, broker)

    cleanup = resolved("cleanup.policy")
    return TopicConfig(
        max_message_bytes=resolved("max.message.bytes"),
        log_append_time=resolved("message.timestamp.type") == "LogAppendTime",
        timestamp_before_max_ms=resolved("message.timestamp.before.max.ms"),
        timestamp_after_max_ms=resolved("message.timestamp.after.max.ms"),
        compacted="compact" in cleanup,
        # Kafka takes none of both for as good as this one.
        deletes="delete" in cleanup or "compact" not in cleanup,
    )


def topic_value(name: str, overrides: Mapping[str, str], broker: BrokerConfig) -> Value:
    definition = TOPIC_CONFIGS[name]
    text = overrides.get(name)
    return _broker_default(definition, broker) if text is None else definition.parse(text)


def describe_topic_configs(overrides: Mapping[str, str], broker: BrokerConfig) -> list[ConfigEntry]:
    """Every config, in the order of the table, which is that of the names."""
    return [describe_topic_config(name, overrides, broker) for name in TOPIC_CONFIGS]


def describe_topic_config(
    name: str, overrides: Mapping[str, str], broker: BrokerConfig
) -> ConfigEntry:
    value = topic_value(name, overrides, broker)
    return topic_entry(TOPIC_CONFIGS[name], value, overrides, broker)


def deciding_source(name: str, overrides: Mapping[str, str], broker: BrokerConfig) -> Source:
    """As CreateTopics tells it, where a counterpart in other units counts like the first one."""
    if name in overrides:
        return Source.TOPIC
    set_in = broker.set_somewhere(TOPIC_CONFIGS[name].synonyms)
    return next((one.source for one in set_in), Source.DEFAULT)


def validate_topic_configs(
    overrides: Mapping[str, str | None], broker: BrokerConfig | None = None
) -> None:
    """Refuses what Kafka refuses; `broker` gives the default of a config that has a counterpart."""
    nulls = [name for name, text in overrides.items() if text is None]
    if nulls:
        raise InvalidConfig(f"Null value not supported for topic configs: {','.join(nulls)}")
    for name in overrides:
        if name not in TOPIC_CONFIGS:
            raise InvalidConfig(f"Unknown topic config name: {name}")
    values: dict[str, Any] = {}
    for name, text in overrides.items():
        assert text is not None
        values[name] = _parse(TOPIC_CONFIGS[name], text)
    _check_together(values, broker or BrokerConfig())


def _parse(definition: Definition, text: str) -> Value:
    value = definition.parse(text)
    if definition.name.endswith(".throttled.replicas"):
        assert isinstance(value, tuple)
        if value != ("*",) and not all(map(_THROTTLED.fullmatch, value)):
            raise definition.refused(
                f"[{', '.join(value)}]",
                f"{definition.name} must be the literal '*' or a list of replicas in the following "
                "format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
            )
    return value


def _check_together(values: dict[str, Any], broker: BrokerConfig) -> None:
    if values.get("remote.storage.enable"):
        raise InvalidConfig(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    least = values.get("min.compaction.lag.ms", broker.log_cleaner_min_compaction_lag_ms)
    most = values.get("max.compaction.lag.ms", broker.log_cleaner_max_compaction_lag_ms)
    if least > most:
        raise InvalidConfig(
            f"conflict topic config setting min.compaction.lag.ms ({least}) > "
            f"max.compaction.lag.ms ({most})"
        )


_MS_IN = {"minutes": 60_000, "hours": 3_600_000}


def _broker_default(definition: Definition, broker: BrokerConfig) -> Value:
    for synonym in definition.synonyms:
        value = broker.value(synonym)
        factor = _MS_IN.get(BrokerConfig.definitions[synonym].unit)
        if value is None:
            continue
        if factor is None or not isinstance(value, int):
            return value
        return value * factor if value >= 0 else value
    return definition.default
