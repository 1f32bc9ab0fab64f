"""Compaction of topics with `cleanup.policy=compact`."""

from __future__ import annotations

from domain.configs.settings.definition import Effect, Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class CleanerSettings:
    log_cleaner_enable: bool = setting(
        "log.cleaner.enable",
        BOOLEAN,
        True,
        "Whether topics with cleanup.policy=compact are compacted.",
    )
    log_cleaner_backoff_ms: int = setting(
        "log.cleaner.backoff.ms",
        LONG,
        15000,
        "How often the broker looks for logs to compact when there was none.",
        minimum=0,
        unit="ms",
        dynamic=True,
    )
    log_cleaner_dedupe_buffer_size: int = setting(
        "log.cleaner.dedupe.buffer.size",
        LONG,
        134217728,
        "The memory for keys and their newest offsets: 192 bytes each. With more keys the log is "
        "compacted in several passes.",
        minimum=(1 << 20) + 1,
        unit="bytes",
        dynamic=True,
    )
    log_cleaner_io_buffer_size: int = setting(
        "log.cleaner.io.buffer.size",
        INT,
        524288,
        "How many bytes of a log are compacted in one commit, at most 1 MiB and at least a batch.",
        minimum=0,
        unit="bytes",
        dynamic=True,
    )
    log_cleaner_io_buffer_load_factor: float = setting(
        "log.cleaner.io.buffer.load.factor",
        DOUBLE,
        0.9,
        "How full log.cleaner.dedupe.buffer.size may become.",
        minimum=0.1,
        maximum=1,
        dynamic=True,
    )
    log_cleaner_io_max_bytes_per_second: float = setting(
        "log.cleaner.io.max.bytes.per.second",
        DOUBLE,
        1.7976931348623157e308,
        "The most bytes that compaction reads and writes per second.",
        dynamic=True,
    )
    log_cleaner_threads: int = setting(
        "log.cleaner.threads",
        INT,
        1,
        "How many threads of Kafka compact logs.",
        # Kafka's definition has 0, but it divides the dedupe buffer by this number.
        minimum=1,
        dynamic=True,
        effect=Effect.ONE_PROCESS,
    )
