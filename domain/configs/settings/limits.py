"""What clients may take: sizes, numbers, times."""

from __future__ import annotations

from domain.configs.settings.definition import INT_MAX, Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind


class LimitSettings:
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
        dynamic=True,
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
        dynamic=True,
    )
    max_connections_per_ip: int = setting(
        "max.connections.per.ip",
        INT,
        INT_MAX,
        "Connections at once from one address.",
        minimum=0,
        dynamic=True,
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
