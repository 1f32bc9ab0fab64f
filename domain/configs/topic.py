"""Topic configs: resolved, described and validated.

The value of a topic config is the topic's own, or the value of the broker setting that is its
default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from domain.configs.broker import BrokerConfig
from domain.configs.entry import ConfigEntry, topic_entry
from domain.configs.settings.definition import LONG_MAX, Definition, Source, Value
from domain.configs.topic_table import MS_IN, TOPIC_CONFIGS
from domain.errors import InvalidConfig

#: producer is not one.
_CODECS = {"uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
_THROTTLED = re.compile(r"\d+:\d+")


class TopicConfig:
    """The configs that produce and fetch read, resolved; never changed in place."""

    __slots__ = (
        "codec",
        "compacted",
        "delete_retention_ms",
        "deletes",
        "largest_segment_ms",
        "level",
        "log_append_time",
        "max_compaction_lag_ms",
        "max_message_bytes",
        "min_cleanable_ratio",
        "min_compaction_lag_ms",
        "min_insync_replicas",
        "opens_batches",
        "retention_bytes",
        "retention_ms",
        "segment_bytes",
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
        codec: int | None = None,
        level: int | None = None,
        segment_bytes: int = 1073741824,
        segment_ms: int = 604800000,
        min_compaction_lag_ms: int = 0,
        max_compaction_lag_ms: int = LONG_MAX,
        min_cleanable_ratio: float = 0.5,
        min_insync_replicas: int = 1,
        delete_retention_ms: int = 86400000,
        retention_ms: int = -1,
        retention_bytes: int = -1,
    ) -> None:
        self.max_message_bytes = max_message_bytes
        self.log_append_time = log_append_time
        self.timestamp_before_max_ms = timestamp_before_max_ms
        self.timestamp_after_max_ms = timestamp_after_max_ms
        self.compacted = compacted
        self.deletes = deletes
        #: How batches are compressed in the log; None: as the producer compressed them.
        self.codec = codec
        self.level = level
        #: Whether Produce reads more of a batch than its header.
        self.opens_batches = compacted or codec is not None or timestamp_before_max_ms != LONG_MAX
        self.segment_bytes = segment_bytes
        #: Records that must be compacted in time leave the active segment in time.
        self.largest_segment_ms = (
            min(segment_ms, max_compaction_lag_ms) if compacted else segment_ms
        )
        self.min_compaction_lag_ms = min_compaction_lag_ms
        self.max_compaction_lag_ms = max_compaction_lag_ms
        self.min_cleanable_ratio = min_cleanable_ratio
        self.min_insync_replicas = min_insync_replicas
        self.delete_retention_ms = delete_retention_ms
        #: Negative: no limit.
        self.retention_ms = retention_ms
        self.retention_bytes = retention_bytes

    @property
    def limits_retention(self) -> bool:
        return self.retention_ms >= 0 or self.retention_bytes >= 0


def resolve_topic_config(overrides: Mapping[str, str], broker: BrokerConfig) -> TopicConfig:
    def resolved(name: str) -> Any:
        return topic_value(name, overrides, broker)

    cleanup = resolved("cleanup.policy")
    compression = resolved("compression.type")
    level = f"compression.{compression}.level"
    expires = "delete" in cleanup
    return TopicConfig(
        max_message_bytes=resolved("max.message.bytes"),
        log_append_time=resolved("message.timestamp.type") == "LogAppendTime",
        timestamp_before_max_ms=resolved("message.timestamp.before.max.ms"),
        timestamp_after_max_ms=resolved("message.timestamp.after.max.ms"),
        compacted="compact" in cleanup,
        codec=_CODECS.get(compression),
        level=resolved(level) if level in TOPIC_CONFIGS else None,
        # In Kafka clients may delete records with an empty policy, which retains all others.
        deletes=expires or "compact" not in cleanup,
        retention_ms=resolved("retention.ms") if expires else -1,
        retention_bytes=resolved("retention.bytes") if expires else -1,
        segment_bytes=resolved("segment.bytes"),
        segment_ms=resolved("segment.ms"),
        min_compaction_lag_ms=resolved("min.compaction.lag.ms"),
        max_compaction_lag_ms=resolved("max.compaction.lag.ms"),
        min_cleanable_ratio=resolved("min.cleanable.dirty.ratio"),
        min_insync_replicas=resolved("min.insync.replicas"),
        delete_retention_ms=resolved("delete.retention.ms"),
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
    """The source in CreateTopics, where a synonym in another unit counts like the first one."""
    if name in overrides:
        return Source.TOPIC
    synonyms = broker.synonyms(TOPIC_CONFIGS[name].synonyms)
    return next((one.source for one in synonyms), Source.DEFAULT)


def validate_topic_configs(
    overrides: Mapping[str, str | None], broker: BrokerConfig | None = None
) -> None:
    """Refuses what Kafka refuses; `broker` has the defaults of configs that are not set."""
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
    least: Any
    most: Any
    least, most = (
        values.get(
            f"{bound}.compaction.lag.ms", broker.value(f"log.cleaner.{bound}.compaction.lag.ms")
        )
        for bound in ("min", "max")
    )
    if least > most:
        raise InvalidConfig(
            f"conflict topic config setting min.compaction.lag.ms ({least}) > "
            f"max.compaction.lag.ms ({most})"
        )


def _broker_default(definition: Definition, broker: BrokerConfig) -> Value:
    for synonym in definition.synonyms:
        value = broker.value(synonym)
        unit = BrokerConfig.definitions[synonym].unit
        if unit in MS_IN and isinstance(value, int) and value > 0:
            return value * MS_IN[unit]
        if value is not None:
            return value
    return definition.default
