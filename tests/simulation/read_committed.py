"""What a READ_COMMITTED consumer makes of a fetch, as the Java client does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from domain.messages.batch import CONTROL, TRANSACTIONAL, RecordBatch, batches_in
from domain.messages.control import read_end_marker
from interfaces.kafka.wire.messages.fetch import AbortedTransaction
from tests.simulation.entries import Entry


def hidden(records: bytes, aborted: Iterable[AbortedTransaction]) -> list[bool]:
    """Of each batch: whether the client skips its records."""
    waiting = sorted(aborted, key=lambda one: one.first_offset)
    producers: set[int] = set()
    found = []
    for batch in batches_in(records):
        while waiting and waiting[0].first_offset <= batch.last_offset:
            producers.add(waiting.pop(0).producer_id)
        if _aborts(batch):
            producers.discard(batch.producer_id)
        is_aborted = bool(batch.attributes & TRANSACTIONAL) and batch.producer_id in producers
        found.append(is_aborted or bool(batch.attributes & CONTROL))
    return found


def _aborts(batch: RecordBatch) -> bool:
    marker = read_end_marker(batch) if batch.attributes & CONTROL else None
    return marker is not None and not marker.committed


def wrong_of(
    entries: Sequence[Entry], records: bytes, aborted: Iterable[AbortedTransaction], last: int
) -> tuple[str, int]:
    """Returns what is wrong with a fetch, and how many aborted batches it has."""
    skipped = 0
    batches = list(batches_in(records))
    for entry, batch, is_hidden in zip(entries, batches, hidden(records, aborted), strict=True):
        if batch.attributes & CONTROL or not batch.count:
            continue
        if entry.attempt is None:
            if is_hidden:
                return f"{entry.values} is hidden, and in no transaction", skipped
            continue
        if entry.ended is None or entry.ended[0] > last:
            return f"{entry.values} of an open transaction was returned", skipped
        committed = entry.ended[1]
        if committed is is_hidden:
            outcome = "committed" if committed else "aborted"
            return f"{entry.values} is {'not ' * is_hidden}read, and {outcome}", skipped
        skipped += is_hidden
    return "", skipped
