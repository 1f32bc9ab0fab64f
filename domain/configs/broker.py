"""BrokerConfig: THE table of broker settings, one row an attribute.

The names are Kafka's own where Kafka has one. A key of Kafka's that is not here has no effect and
is named in one warning at start; it never stops the broker, so that an existing server.properties
or Compose file works as it is. The attribute is the key with dots as underscores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from domain.configs.definition import INT_MAX, LONG_MAX, Definition, Effect, Kind, Value
from domain.errors import InvalidConfig

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind
LATER, NONE = Effect.LATER, Effect.NONE

COMPRESSION_TYPES = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
CLEANUP_POLICIES = ("compact", "delete")
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")


def setting(name: str, kind: Kind, default: Value, doc: str, **facts: Any) -> Any:
    """A row; BrokerConfig puts the setting's value in its place."""
    return Definition(name, kind, default, doc, **facts)


class BrokerConfig:
    """All settings with their values; `given` are those somebody set, as text.

    Raises InvalidConfig for the first value that is not allowed. Names it does not know are not
    its business.
    """

    definitions: ClassVar[dict[str, Definition]]

    # identity and addresses
    node_id: int = setting(
        "node.id", INT, 1, "The id of this broker in what clients are told.", minimum=0
    )
    cluster_id: str | None = setting(
        "cluster.id",
        STRING,
        None,
        "The id a new store is given; without it one is drawn, and a store keeps the one it has.",
    )
    broker_rack: str | None = setting(
        "broker.rack", STRING, None, "The rack that clients are told this broker is in."
    )
    listeners: tuple[str, ...] = setting(
        "listeners",
        LIST,
        ("PLAINTEXT://127.0.0.1:9092",),
        "Where to listen, as NAME://HOST:PORT; no host means every address, port 0 a free port.",
    )
    advertised_listeners: tuple[str, ...] = setting(
        "advertised.listeners",
        LIST,
        (),
        "What clients are told to connect to, by listener name; for a listener that is not named "
        "here, each client is told the address it connected to.",
    )
    listener_security_protocol_map: tuple[str, ...] = setting(
        "listener.security.protocol.map",
        LIST,
        ("PLAINTEXT:PLAINTEXT",),
        "The security protocol of each listener name, as NAME:PROTOCOL; only PLAINTEXT is built.",
    )

    # storage and durability
    log_dirs: tuple[str, ...] = setting(
        "log.dirs",
        LIST,
        ("./ottla-data",),
        "The data folder; of several, the first is used (`log.dir` is the same setting).",
    )
    storage: str = setting(
        "storage",
        STRING,
        "lmdb://",
        "The storage engine: lmdb:// (in the data folder), lmdb:///a/folder, or memory://.",
    )
    flush: str = setting(
        "flush",
        STRING,
        "commit",
        "When data is forced to the disk: before each acknowledgement (commit), every "
        "flush.interval.ms (interval), or when the operating system likes (os).",
        choices=("commit", "interval", "os"),
    )
    flush_interval_ms: int = setting(
        "flush.interval.ms",
        INT,
        1000,
        "How often data is forced to the disk with flush=interval.",
        minimum=1,
        unit="ms",
    )

    # topics
    num_partitions: int = setting(
        "num.partitions",
        INT,
        1,
        "Partitions of a topic that is created without saying how many.",
        minimum=1,
    )
    default_replication_factor: int = setting(
        "default.replication.factor",
        INT,
        1,
        "Replicas of a topic that is created without saying how many; one broker can hold one.",
        minimum=1,
    )
    auto_create_topics_enable: bool = setting(
        "auto.create.topics.enable",
        BOOLEAN,
        True,
        "Whether a topic comes into being when a client asks for it by name.",
    )
    delete_topic_enable: bool = setting(
        "delete.topic.enable", BOOLEAN, True, "Whether clients may delete topics."
    )

    # limits
    message_max_bytes: int = setting(
        "message.max.bytes",
        INT,
        1048588,
        "The largest batch of records that is accepted, as it arrives (compressed).",
        minimum=0,
        unit="bytes",
        dynamic=True,
    )
    fetch_max_bytes: int = setting(
        "fetch.max.bytes",
        INT,
        57671680,
        "The most one Fetch is answered with, whatever it asks for.",
        minimum=1024,
        unit="bytes",
    )
    fetch_waiting_max: int = setting(
        "fetch.waiting.max",
        INT,
        10000,
        "Fetches that may wait for data at once; more are answered at once with what there is.",
        minimum=0,
    )
    max_incremental_fetch_session_cache_slots: int = setting(
        "max.incremental.fetch.session.cache.slots",
        INT,
        1000,
        "Incremental fetch sessions that are kept.",
        minimum=0,
    )
    fetch_partitions_max: int = setting(
        "fetch.partitions.max",
        INT,
        200000,
        "Partitions that all fetch sessions together remember, and that all waiting fetches "
        "together wait for; above it a fetch gets no session, and does not wait.",
        minimum=0,
    )
    producer_id_expiration_ms: int = setting(
        "producer.id.expiration.ms",
        INT,
        86400000,
        "A partition forgets an idempotent producer that has appended nothing for so long.",
        minimum=1,
        unit="ms",
    )
    producer_id_expiration_check_interval_ms: int = setting(
        "producer.id.expiration.check.interval.ms",
        INT,
        600000,
        "How often partitions look for producers to forget.",
        minimum=1,
        unit="ms",
    )
    max_request_partition_size_limit: int = setting(
        "max.request.partition.size.limit",
        INT,
        2000,
        "Partitions in one answer to DescribeTopicPartitions.",
        minimum=1,
    )
    socket_request_max_bytes: int = setting(
        "socket.request.max.bytes",
        INT,
        104857600,
        "The largest request that is read; a larger one closes its connection.",
        minimum=1,
        unit="bytes",
    )
    request_elements_max: int = setting(
        "request.elements.max",
        INT,
        50000,
        "Elements of all arrays of one request together (topics, partitions, ...); a request with "
        "more closes its connection. Each costs everybody up to 30 microseconds.",
        minimum=1,
    )
    queued_max_request_bytes: int = setting(
        "queued.max.request.bytes",
        LONG,
        268435456,
        "Bytes of large requests (larger than the read buffer) being received or worked on at "
        "once; above it connections wait. One request is always let in; -1: no bound.",
        minimum=1,
        also=-1,
        unit="bytes",
    )
    queued_max_response_bytes: int = setting(
        "queued.max.response.bytes",
        LONG,
        268435456,
        "Answers that all connections together may leave unread; above it a Fetch gets one batch "
        "at a time, above twice that the largest are closed. -1: no bound.",
        minimum=1,
        also=-1,
        unit="bytes",
    )
    connection_unsent_max_bytes: int = setting(
        "connection.unsent.max.bytes",
        INT,
        1048576,
        "Answers a connection may leave unread; above it no more of its requests are read.",
        minimum=1,
        unit="bytes",
    )
    max_connections: int = setting(
        "max.connections",
        INT,
        10000,
        "Connections at once; one more is closed as soon as it is accepted.",
        minimum=0,
    )
    max_connections_per_ip: int = setting(
        "max.connections.per.ip",
        INT,
        INT_MAX,
        "Connections at once from one address.",
        minimum=0,
    )
    connections_max_idle_ms: int = setting(
        "connections.max.idle.ms",
        LONG,
        600000,
        "A connection that is silent for so long is closed; negative: never.",
        unit="ms",
    )
    drain_timeout_ms: int = setting(
        "drain.timeout.ms",
        INT,
        8000,
        "How long a stop waits for requests under way to be answered.",
        minimum=0,
        unit="ms",
    )

    # the log of the broker itself
    log_requests: str = setting(
        "log.requests",
        STRING,
        "errors",
        "Requests that get a line in the log: all, slow (and failed) ones, failed ones "
        "(errors), or off.",
        choices=("all", "slow", "errors", "off"),
    )
    log_requests_sample: int = setting(
        "log.requests.sample",
        INT,
        1,
        "With log.requests=all, one in so many requests; slow and failed ones always.",
        minimum=1,
    )
    log_requests_slow_ms: int = setting(
        "log.requests.slow.ms",
        INT,
        500,
        "A request that takes this long, without its time of waiting for data, is slow.",
        minimum=0,
        unit="ms",
    )
    log_format: str | None = setting(
        "log.format",
        STRING,
        None,
        "How log lines look; without it, console on a terminal and json elsewhere.",
        choices=("console", "json"),
    )

    # what topics are given that do not say otherwise
    log_cleanup_policy: tuple[str, ...] = setting(
        "log.cleanup.policy",
        LIST,
        ("delete",),
        "Default of cleanup.policy.",
        choices=CLEANUP_POLICIES,
        dynamic=True,
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
    )
    log_retention_minutes: int | None = setting(
        "log.retention.minutes",
        INT,
        None,
        "Default of retention.ms, in minutes; without it log.retention.hours decides.",
        minimum=-1,
        unit="minutes",
        effect=LATER,
    )
    log_retention_hours: int = setting(
        "log.retention.hours",
        INT,
        168,
        "Default of retention.ms, in hours.",
        minimum=-1,
        unit="hours",
        effect=LATER,
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
    )
    log_roll_hours: int = setting(
        "log.roll.hours",
        INT,
        168,
        "Default of segment.ms, in hours.",
        minimum=1,
        unit="hours",
        effect=LATER,
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
    )
    log_roll_jitter_hours: int = setting(
        "log.roll.jitter.hours",
        INT,
        0,
        "Default of segment.jitter.ms, in hours.",
        minimum=0,
        unit="hours",
        effect=NONE,
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

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self.given = dict(given or {})
        for name, definition in self.definitions.items():
            text = self.given.get(name)
            value = definition.default if text is None else definition.parse(text)
            setattr(self, attribute_of(name), value)

    def value(self, name: str) -> Value:
        """The value by the setting's name; InvalidConfig when there is no such setting."""
        if name not in self.definitions:
            raise InvalidConfig(f"Unknown broker setting: {name}")
        value: Value = getattr(self, attribute_of(name))
        return value


def attribute_of(name: str) -> str:
    return name.replace(".", "_")


BrokerConfig.definitions = {
    row.name: row for row in vars(BrokerConfig).values() if isinstance(row, Definition)
}
