"""Limits for clients: sizes, counts, times."""

from __future__ import annotations

from domain.configs.settings.definition import INT_MAX, Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class LimitSettings:
    message_max_bytes: int = setting(
        "message.max.bytes",
        INT,
        1048588,
        "The largest record batch that is accepted, as it arrives (compressed).",
        minimum=0,
        unit="bytes",
        dynamic=True,
    )
    fetch_max_bytes: int = setting(
        "fetch.max.bytes",
        INT,
        57671680,
        "The largest Fetch response, whatever the request allows.",
        minimum=1024,
        unit="bytes",
    )
    fetch_waiting_max: int = setting(
        "fetch.waiting.max",
        INT,
        10000,
        "The most fetches in purgatory; above it a fetch is completed with the available records.",
        minimum=0,
    )
    max_incremental_fetch_session_cache_slots: int = setting(
        "max.incremental.fetch.session.cache.slots",
        INT,
        1000,
        "The most incremental fetch sessions.",
        minimum=0,
    )
    fetch_partitions_max: int = setting(
        "fetch.partitions.max",
        INT,
        200000,
        "The most partitions in all fetch sessions together, and in all waiting fetches together; "
        "above it a fetch gets no session and does not wait.",
        minimum=0,
    )
    producer_id_expiration_ms: int = setting(
        "producer.id.expiration.ms",
        INT,
        86400000,
        "A partition drops the state of an idempotent producer that was idle for this time.",
        minimum=1,
        unit="ms",
        dynamic=True,
    )
    producer_id_expiration_check_interval_ms: int = setting(
        "producer.id.expiration.check.interval.ms",
        INT,
        600000,
        "How often partitions drop the state of idle producers.",
        minimum=1,
        unit="ms",
    )
    max_request_partition_size_limit: int = setting(
        "max.request.partition.size.limit",
        INT,
        2000,
        "The most partitions in one DescribeTopicPartitions response.",
        minimum=1,
    )
    socket_request_max_bytes: int = setting(
        "socket.request.max.bytes",
        INT,
        104857600,
        "The largest request; the connection of a larger one is closed.",
        minimum=1,
        unit="bytes",
    )
    request_elements_max: int = setting(
        "request.elements.max",
        INT,
        50000,
        "The most elements of all arrays of one request together (topics, partitions, ...); the "
        "connection of a larger one is closed. Each element takes up to 30 microseconds.",
        minimum=1,
    )
    queued_max_request_bytes: int = setting(
        "queued.max.request.bytes",
        LONG,
        268435456,
        "The most bytes of large requests (larger than the read buffer) in progress; above it "
        "connections wait. One request is always admitted; -1: no limit.",
        minimum=1,
        also=-1,
        unit="bytes",
    )
    queued_max_response_bytes: int = setting(
        "queued.max.response.bytes",
        LONG,
        268435456,
        "The most bytes of unread responses of all connections together; above it a Fetch gets "
        "one batch at a time, above twice that the largest connections are closed. -1: no limit.",
        minimum=1,
        also=-1,
        unit="bytes",
    )
    connection_unsent_max_bytes: int = setting(
        "connection.unsent.max.bytes",
        INT,
        1048576,
        "Most bytes of unread responses of one connection; above it no more of its requests are "
        "read.",
        minimum=1,
        unit="bytes",
    )
    max_connections: int = setting(
        "max.connections",
        INT,
        10000,
        "The most open connections; above it a new one is closed at once.",
        minimum=0,
        dynamic=True,
    )
    max_connections_per_ip: int = setting(
        "max.connections.per.ip",
        INT,
        INT_MAX,
        "The most open connections from one address.",
        minimum=0,
        dynamic=True,
    )
    max_connections_per_ip_overrides: str = setting(
        "max.connections.per.ip.overrides",
        STRING,
        "",
        "The most open connections from single addresses instead of max.connections.per.ip: "
        "`ADDRESS:NUMBER,...`. Host names are not resolved.",
        dynamic=True,
    )
    max_connection_creation_rate: int = setting(
        "max.connection.creation.rate",
        INT,
        INT_MAX,
        "The most new connections per second; requests of those above it wait.",
        minimum=0,
        dynamic=True,
    )
    connections_max_idle_ms: int = setting(
        "connections.max.idle.ms",
        LONG,
        600000,
        "A connection that is idle for this time is closed; negative: never.",
        unit="ms",
    )
    drain_timeout_ms: int = setting(
        "drain.timeout.ms",
        INT,
        8000,
        "How long a shutdown waits for the responses of requests in progress.",
        minimum=0,
        unit="ms",
    )
