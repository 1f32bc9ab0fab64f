"""Groups, and what they commit."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind


class GroupSettings:
    offsets: str | None = setting(
        "offsets",
        STRING,
        None,
        "Where committed offsets are kept: memory://, lmdb:// (where the messages are), sqlite:// "
        "(in the data folder), sqlite:///a/file, or postgresql://user@host/database; without it, "
        "where the messages are.",
        sensitive=True,
    )
    offset_metadata_max_bytes: int = setting(
        "offset.metadata.max.bytes",
        INT,
        4096,
        "The longest text a client may leave with a committed offset.",
        unit="bytes",
    )
    offsets_retention_minutes: int = setting(
        "offsets.retention.minutes",
        INT,
        10080,
        "Committed offsets are forgotten so long after their group became empty; those of a group "
        "that never had members, so long after they were committed.",
        minimum=1,
        unit="minutes",
    )
    offsets_retention_check_interval_ms: int = setting(
        "offsets.retention.check.interval.ms",
        LONG,
        600000,
        "How often committed offsets are looked through for those to forget.",
        minimum=1,
        unit="ms",
    )
    group_min_session_timeout_ms: int = setting(
        "group.min.session.timeout.ms",
        INT,
        6000,
        "The shortest session timeout a member of a classic group may ask for.",
        unit="ms",
    )
    group_max_session_timeout_ms: int = setting(
        "group.max.session.timeout.ms",
        INT,
        1800000,
        "The longest session timeout a member of a classic group may ask for.",
        unit="ms",
    )
    group_initial_rebalance_delay_ms: int = setting(
        "group.initial.rebalance.delay.ms",
        INT,
        0,
        "How long a new classic group waits for more members before its first generation; Kafka "
        "waits 3000.",
        minimum=0,
        unit="ms",
    )
    group_max_size: int = setting(
        "group.max.size",
        INT,
        2000,
        "Members of a classic group at once; Kafka has no bound.",
        minimum=1,
    )
    group_metadata_max_bytes: int = setting(
        "group.metadata.max.bytes",
        INT,
        2097152,
        "What all members of a classic group may say of themselves together, with what they are "
        "assigned; in Kafka it has to fit into a message of the offsets topic, about 1 MB.",
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
        "How long a member of a consumer group may be silent before it is taken out.",
        minimum=1,
        unit="ms",
    )
    group_consumer_min_session_timeout_ms: int = setting(
        "group.consumer.min.session.timeout.ms",
        INT,
        45000,
        "The least that a group's own consumer.session.timeout.ms may be.",
        minimum=1,
        unit="ms",
    )
    group_consumer_max_session_timeout_ms: int = setting(
        "group.consumer.max.session.timeout.ms",
        INT,
        60000,
        "The most that a group's own consumer.session.timeout.ms may be.",
        minimum=1,
        unit="ms",
    )
    group_consumer_heartbeat_interval_ms: int = setting(
        "group.consumer.heartbeat.interval.ms",
        INT,
        5000,
        "How often members of a consumer group are told to send a heartbeat.",
        minimum=1,
        unit="ms",
    )
    group_consumer_min_heartbeat_interval_ms: int = setting(
        "group.consumer.min.heartbeat.interval.ms",
        INT,
        5000,
        "The least that a group's own consumer.heartbeat.interval.ms may be.",
        minimum=1,
        unit="ms",
    )
    group_consumer_max_heartbeat_interval_ms: int = setting(
        "group.consumer.max.heartbeat.interval.ms",
        INT,
        15000,
        "The most that a group's own consumer.heartbeat.interval.ms may be.",
        minimum=1,
        unit="ms",
    )
    group_consumer_max_size: int = setting(
        "group.consumer.max.size",
        INT,
        2000,
        "Members of a consumer group at once; Kafka has no bound.",
        minimum=1,
    )
    group_consumer_assignors: tuple[str, ...] = setting(
        "group.consumer.assignors",
        LIST,
        ("uniform", "range"),
        "The assignors of consumer groups; the first is that of groups whose members name none.",
        choices=("uniform", "range"),
    )
    group_consumer_migration_policy: str = setting(
        "group.consumer.migration.policy",
        STRING,
        "bidirectional",
        "Which groups may change their kind while they have members: classic ones that a member of "
        "the consumer protocol joins (upgrade), consumer groups that the last such member leaves "
        "(downgrade), both, or none.",
        choices=("bidirectional", "upgrade", "downgrade", "disabled"),
    )
    group_consumer_regex_refresh_interval_ms: int = setting(
        "group.consumer.regex.refresh.interval.ms",
        INT,
        600000,
        "How late subscriptions by regular expression may notice topics in Kafka; here they do so "
        "at once, whatever this is.",
        minimum=10000,
        unit="ms",
    )
