"""The raw stream: records of one topic without a client library."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting


class RawSettings:
    raw_listeners: tuple[str, ...] = setting(
        "raw.listeners",
        Kind.LIST,
        (),
        "Where the raw stream listens, as HOST:PORT; by convention the port is 12000. Settings of "
        "TLS may have the prefix `raw.`.",
    )
    raw_topic: str = setting(
        "raw.topic",
        Kind.STRING,
        "raw",
        "The topic whose partition 0 is the raw stream; it is created on first use, with one "
        "partition.",
    )
    raw_auto_offset_reset: str = setting(
        "raw.auto.offset.reset",
        Kind.STRING,
        "earliest",
        "If the record at the start of a raw consumer was removed. earliest: it begins at the "
        "oldest record. none: its connection is closed.",
        choices=("earliest", "none"),
    )
