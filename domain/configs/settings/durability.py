"""Where data is stored, when it is flushed to disk, and when it is removed."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class DurabilitySettings:
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
        "The storage engine: lmdb:// or files:// (in the data folder), lmdb:///a/folder, "
        "files:///a/folder, postgresql://user@host/database?schema=ottla, or memory://.",
        sensitive=True,
    )
    storage_copies: int = setting(
        "storage.copies",
        INT,
        0,
        "With storage=postgresql://: how many copies of each acknowledged record there are, for "
        "min.insync.replicas; 0: the server, and the synchronous standbys that it shows.",
        minimum=0,
    )
    flush: str = setting(
        "flush",
        STRING,
        "commit",
        "When data is flushed to disk: before each acknowledgement (commit), every "
        "flush.interval.ms (interval; not in PostgreSQL), or when the operating system, or "
        "PostgreSQL, decides (os).",
        choices=("commit", "interval", "os"),
    )
    flush_interval_ms: int = setting(
        "flush.interval.ms",
        INT,
        1000,
        "How often data is flushed to disk with flush=interval.",
        minimum=1,
        unit="ms",
    )
    log_retention_check_interval_ms: int = setting(
        "log.retention.check.interval.ms",
        LONG,
        300000,
        "How often the broker looks for records that retention.ms and retention.bytes of their "
        "topics do not retain, and removes them.",
        minimum=1,
        unit="ms",
    )
