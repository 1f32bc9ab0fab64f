"""The raw stream, if a raw listener is set."""

from __future__ import annotations

from application.partitions.produce import ProduceService
from application.ports.compression import Compression
from application.streams.service import StreamService
from application.streams.stream import StreamParts
from application.topics.create import CreateTopicsService
from infrastructure.codecs.checksum import crc32c
from interfaces.main.container.core import Core


def make_streams(
    core: Core,
    produce: ProduceService,
    create_topics: CreateTopicsService,
    compression: Compression,
) -> StreamService:
    parts = StreamParts(
        core.catalog,
        core.log,
        core.stream_index,
        produce,
        core.commits,
        core.purgatory,
        core.background,
        core.clock,
        crc32c,
        compression,
        core.events,
        core.config.raw_auto_offset_reset == "earliest",
    )
    return StreamService(core.config.raw_topic, parts, create_topics)
