"""Groups and committed offsets."""

from __future__ import annotations

from domain.configs.settings.definition import Effect, Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class GroupSettings:
    offsets: str | None = setting(
        "offsets",
        STRING,
        None,
        "Where committed offsets are stored: memory://, lmdb:// (with the records), sqlite:// (in "
        "the data folder), sqlite:///a/file, or postgresql://user@host/database; not set: with "
        "the records.",
        sensitive=True,
    )
    offsets_topic: str = setting(
        "offsets.topic",
        STRING,
        "off",
        "Whether committed offsets and classic groups are also records of the internal topic "
        "__consumer_offsets, and transactions of __transaction_state. Always on with "
        "storage=postgresql://.",
        choices=("on", "off"),
    )
    offsets_topic_num_partitions: int = setting(
        "offsets.topic.num.partitions",
        INT,
        50,
        "Partitions of __consumer_offsets, when it is created.",
        minimum=1,
    )
    offsets_topic_segment_bytes: int = setting(
        "offsets.topic.segment.bytes",
        INT,
        104857600,
        "The config segment.bytes of __consumer_offsets, when it is created.",
        minimum=1048576,
        unit="bytes",
    )
    offsets_topic_replication_factor: int = setting(
        "offsets.topic.replication.factor",
        INT,
        1,
        "Replicas of __consumer_offsets. 3 in Kafka.",
        minimum=1,
        effect=Effect.DEFAULT_FACTOR,
    )
    offset_metadata_max_bytes: int = setting(
        "offset.metadata.max.bytes",
        INT,
        4096,
        "The longest metadata text of a committed offset.",
        unit="bytes",
    )
    offsets_retention_minutes: int = setting(
        "offsets.retention.minutes",
        INT,
        10080,
        "Committed offsets expire so long after their group became empty; those of a group that "
        "never had members, so long after the commit.",
        minimum=1,
        unit="minutes",
    )
    offsets_retention_check_interval_ms: int = setting(
        "offsets.retention.check.interval.ms",
        LONG,
        600000,
        "How often expired committed offsets are looked for.",
        minimum=1,
        unit="ms",
    )
    group_min_session_timeout_ms: int = setting(
        "group.min.session.timeout.ms",
        INT,
        6000,
        "The shortest session timeout of a member of a classic group.",
        unit="ms",
    )
    group_max_session_timeout_ms: int = setting(
        "group.max.session.timeout.ms",
        INT,
        1800000,
        "The longest session timeout of a member of a classic group.",
        unit="ms",
    )
    group_initial_rebalance_delay_ms: int = setting(
        "group.initial.rebalance.delay.ms",
        INT,
        0,
        "How long a new classic group waits for more members before its first rebalance; 3000 in "
        "Kafka.",
        minimum=0,
        unit="ms",
    )
    group_max_size: int = setting(
        "group.max.size",
        INT,
        2000,
        "The most members of a classic group; Kafka has no limit.",
        minimum=1,
    )
    group_metadata_max_bytes: int = setting(
        "group.metadata.max.bytes",
        INT,
        2097152,
        "The most metadata and assignments of all members of a classic group together; in Kafka "
        "they must fit into a record of the offsets topic, about 1 MB.",
        minimum=1,
        unit="bytes",
    )
    group_coordinator_rebalance_protocols: tuple[str, ...] = setting(
        "group.coordinator.rebalance.protocols",
        LIST,
        ("classic", "consumer"),
        "The group protocols that are served.",
        choices=("classic", "consumer"),
    )
    group_consumer_session_timeout_ms: int = setting(
        "group.consumer.session.timeout.ms",
        INT,
        45000,
        "A member of a consumer group that sends no heartbeat for so long is removed.",
        minimum=1,
        unit="ms",
    )
    group_consumer_min_session_timeout_ms: int = setting(
        "group.consumer.min.session.timeout.ms",
        INT,
        45000,
        "The minimum of the group config consumer.session.timeout.ms.",
        minimum=1,
        unit="ms",
    )
    group_consumer_max_session_timeout_ms: int = setting(
        "group.consumer.max.session.timeout.ms",
        INT,
        60000,
        "The maximum of the group config consumer.session.timeout.ms.",
        minimum=1,
        unit="ms",
    )
    group_consumer_heartbeat_interval_ms: int = setting(
        "group.consumer.heartbeat.interval.ms",
        INT,
        5000,
        "The heartbeat interval of members of consumer groups.",
        minimum=1,
        unit="ms",
    )
    group_consumer_min_heartbeat_interval_ms: int = setting(
        "group.consumer.min.heartbeat.interval.ms",
        INT,
        5000,
        "The minimum of the group config consumer.heartbeat.interval.ms.",
        minimum=1,
        unit="ms",
    )
    group_consumer_max_heartbeat_interval_ms: int = setting(
        "group.consumer.max.heartbeat.interval.ms",
        INT,
        15000,
        "The maximum of the group config consumer.heartbeat.interval.ms.",
        minimum=1,
        unit="ms",
    )
    group_consumer_max_size: int = setting(
        "group.consumer.max.size",
        INT,
        2000,
        "The most members of a consumer group; Kafka has no limit.",
        minimum=1,
    )
    group_consumer_assignors: tuple[str, ...] = setting(
        "group.consumer.assignors",
        LIST,
        ("uniform", "range"),
        "The server-side assignors of consumer groups; the first is the default.",
        choices=("uniform", "range"),
    )
    group_consumer_migration_policy: str = setting(
        "group.consumer.migration.policy",
        STRING,
        "bidirectional",
        "Which groups with members may change their protocol: a classic group when a consumer of "
        "the new protocol joins (upgrade), a consumer group when the last such member leaves "
        "(downgrade), both, or none.",
        choices=("bidirectional", "upgrade", "downgrade", "disabled"),
    )
    group_consumer_regex_refresh_interval_ms: int = setting(
        "group.consumer.regex.refresh.interval.ms",
        INT,
        600000,
        "How often Kafka resolves subscriptions by regular expression.",
        minimum=10000,
        unit="ms",
        effect=Effect.AT_ONCE,
    )
