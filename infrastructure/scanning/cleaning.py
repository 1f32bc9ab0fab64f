"""In a worker process: one pass of compaction."""

from __future__ import annotations

from collections.abc import Callable

from application.partitions.cleaning import (
    CleaningEnd,
    CleaningJob,
    Throttle,
    encode_replacement,
    make_codecs,
)
from application.ports.log_store import LogStore
from domain.compaction.cleaner import Cleaner
from infrastructure.clock import SystemClock
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression


def clean(
    job: CleaningJob,
    log: LogStore,
    pause: Callable[[float], None],
    send: Callable[[bytes], None],
) -> CleaningEnd:
    """`pause`: for so many seconds."""
    clock = SystemClock()
    throttle = Throttle(job.max_bytes_per_second, clock.monotonic_ms())
    cleaner = Cleaner(job.plan, make_codecs(BatchCompression(), crc32c))
    while not cleaner.is_done:
        pause(throttle.pause_ms(cleaner.stats, clock.monotonic_ms()) / 1000)
        data = log.read(
            job.partition_id, cleaner.position, cleaner.end_offset, job.read_bytes, True
        )
        replacement = cleaner.advance(data)
        if replacement is not None:
            send(encode_replacement(replacement))
    return CleaningEnd(cleaner.stats, cleaner.end_offset)
