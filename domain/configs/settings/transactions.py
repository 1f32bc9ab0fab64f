"""Transactions."""

from __future__ import annotations

from domain.configs.settings.definition import Effect, Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class TransactionSettings:
    transaction_max_timeout_ms: int = setting(
        "transaction.max.timeout.ms",
        INT,
        900000,
        "The longest transaction.timeout.ms of a producer.",
        minimum=1,
        unit="ms",
    )
    transactional_id_expiration_ms: int = setting(
        "transactional.id.expiration.ms",
        INT,
        604800000,
        "The broker forgets a transactional id that is not used for so long.",
        minimum=1,
        unit="ms",
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = setting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        INT,
        10000,
        "How often the broker looks for transactions to abort because they timed out.",
        minimum=1,
        unit="ms",
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = setting(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        INT,
        3600000,
        "How often the broker looks for transactional ids to forget.",
        minimum=1,
        unit="ms",
    )
    transaction_state_log_num_partitions: int = setting(
        "transaction.state.log.num.partitions",
        INT,
        50,
        "Partitions of __transaction_state, when it is created (offsets.topic=on).",
        minimum=1,
    )
    transaction_state_log_segment_bytes: int = setting(
        "transaction.state.log.segment.bytes",
        INT,
        104857600,
        "The config segment.bytes of __transaction_state, when it is created.",
        minimum=1048576,
        unit="bytes",
    )
    transaction_state_log_min_isr: int = setting(
        "transaction.state.log.min.isr",
        INT,
        1,
        "The config min.insync.replicas of __transaction_state, when it is created. 2 in Kafka.",
        minimum=1,
    )
    transaction_state_log_replication_factor: int = setting(
        "transaction.state.log.replication.factor",
        INT,
        1,
        "Replicas of __transaction_state. 3 in Kafka.",
        minimum=1,
        effect=Effect.DEFAULT_FACTOR,
    )
