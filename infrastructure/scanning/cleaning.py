"""In a worker process: one pass of compaction."""

from __future__ import annotations

from collections.abc import Callable

from application.partitions.cleaning import (
    LONGEST_PAUSE_MS,
    CleaningEnd,
    CleaningJob,
    Throttle,
    encode_replacement,
    make_codecs,
    read_checked,
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
    sent_ms = clock.monotonic_ms()
    while not cleaner.is_done:
        now_ms = clock.monotonic_ms()
        if now_ms - sent_ms >= LONGEST_PAUSE_MS:
            send(b"")
            sent_ms = now_ms
        pause_ms = throttle.pause_ms(cleaner.stats, now_ms)
        pause(pause_ms / 1000)
        if pause_ms:
            continue
        replacement = cleaner.advance(read_checked(log, job, cleaner, job.read_bytes))
        if replacement is not None:
            send(encode_replacement(replacement))
    return CleaningEnd(cleaner.stats, cleaner.end_offset)
