"""Logs, and passes of compaction over them, for Kafka's cleaner and for ours."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from crc32c import crc32c

from domain.messages.batch import RecordBatch
from domain.messages.control import EndMarker, end_marker
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, Record, record_batch

RETENTION_MS = 1000
CODECS = (NONE, GZIP, SNAPPY, LZ4, ZSTD)


class Case:
    def __init__(self, name: str) -> None:
        self.name = name
        self.batches: list[bytes] = []
        self.passes: list[dict[str, int]] = []
        self.next_offset = 0

    def add(self, *records: Record, **fields: Any) -> None:
        self.append(RecordBatch(memoryview(record_batch(records, **fields))))

    def append(self, batch: RecordBatch) -> None:
        batch.set_offset(self.next_offset, 3)
        self.batches.append(bytes(batch.buffer))
        self.next_offset = batch.last_offset + 1

    def transactional(
        self, producer_id: int, sequence: int, *records: Record, epoch: int = 1
    ) -> None:
        producer = {"producer_id": producer_id, "epoch": epoch, "sequence": sequence}
        self.add(*records, **producer, transactional=True)

    def end(self, producer_id: int, committed: bool, epoch: int = 1) -> None:
        self.append(end_marker(EndMarker(producer_id, epoch, 0, committed), 500, crc32c))

    def cleaned(self, now: int, end: int | None = None, dirty: int | None = None) -> None:
        """Up to an offset where a batch begins, or to the log end."""
        end = self.next_offset if end is None else end
        before = self.passes[-1]["end"] if self.passes else 0
        dirty = before if dirty is None else dirty
        self.passes.append({"dirty": dirty, "end": end, "now": now, "retention": RETENTION_MS})


def record(key: str, value: str | None = "value", timestamp: int = 100, **headers: str) -> Record:
    pairs = [(name, content.encode()) for name, content in headers.items()]
    return None if not key else (key, value, pairs, timestamp)


def cases() -> Iterator[Case]:
    yield from (_updates(codec) for codec in CODECS)
    yield _timestamps()
    yield _log_append_time()
    yield _tombstones()
    yield _producers()
    yield _ends()
    yield _no_keys()
    yield _long_keys()
    for seed in range(4):
        yield _random(seed)
    yield from transactions()


def transactions() -> Iterator[Case]:
    yield _committed()
    yield _aborted()
    yield _interleaved()
    yield _newest_epochs()
    yield _within_a_transaction()
    for seed in range(6):
        yield _random_transactions(seed)


def _updates(codec: int) -> Case:
    case = Case(f"updates, codec {codec}")
    case.add(record("a", "1", 100), record("b", "2", 110, h="x"), record("c", "3"), codec=codec)
    case.add(record("b", "4", 120), record("d", "5", 130), codec=codec)
    case.add(record("e", "6"), codec=codec)
    case.add(record("b", "7", 140), record("e", "8", 150), codec=codec)
    case.cleaned(now=1000)
    return case


def _timestamps() -> Case:
    case = Case("timestamps in any order")
    case.add(record("a", timestamp=5_000), record("b", timestamp=70), record("c", timestamp=4_000))
    case.add(record("d", timestamp=-1), record("e", timestamp=1 << 40), record("f", timestamp=6))
    case.add(record("g", timestamp=9), record("h", timestamp=-1))
    case.add(record("i", timestamp=-1), record("j", timestamp=-1))
    case.add(record("a"), record("e"), record("g"), record("i"))
    case.cleaned(now=1000)
    return case


def _log_append_time() -> Case:
    case = Case("log append time")
    fields = {"log_append_time": True, "max_timestamp": 8_000}
    case.add(record("a", timestamp=100), record("b", None, timestamp=90), **fields)
    case.add(record("c", timestamp=70), record("d", timestamp=80), **fields)
    case.add(record("a"), record("c"))
    case.add(record("e"))
    case.cleaned(now=1000, end=6)
    case.cleaned(now=9000)
    return case


def _tombstones() -> Case:
    case = Case("tombstones")
    case.add(record("a"), record("b"), record("c"))
    case.add(record("a", None), record("d", timestamp=130))
    case.add(record("b", None, timestamp=140))
    case.add(record("e"))
    case.cleaned(now=1000, end=6)
    case.cleaned(now=1999)
    case.cleaned(now=2000, dirty=6)
    return case


def _producers() -> Case:
    case = Case("last batches of producers")
    for sequence in (0, 2):
        for producer_id in (7, 8):
            fields = {"producer_id": producer_id, "epoch": 1, "sequence": sequence}
            case.add(record("a"), record("b"), **fields, codec=LZ4, timestamp=500)
    case.add(record("a"), record("b"))
    case.add(record("c"))
    case.cleaned(now=1000, end=10)
    case.cleaned(now=1000)
    return case


def _ends() -> Case:
    case = Case("the last batch of a pass")
    case.add(record("a"), record("b"))
    case.add(record(""), record(""))
    case.add(record("b"), record("a"))
    case.cleaned(now=1000, end=4)
    case.cleaned(now=1000)
    return case


def _no_keys() -> Case:
    case = Case("records without a key")
    case.add(record("a"), record(""), record("b"))
    case.add(record(""))
    case.add(record("", None), record("c"))
    case.cleaned(now=1000)
    return case


def _long_keys() -> Case:
    case = Case("keys of all lengths")
    lengths = (1, 15, 16, 17, 30, 31, 32, 63, 64, 300)
    for _ in range(2):
        case.add(*(record("k" * length, f"{length}") for length in lengths))
    case.add((b"", b"empty key", (), 5), (b"", None, (), 6))
    case.cleaned(now=1000)
    return case


def _committed() -> Case:
    case = Case("committed transactions")
    case.transactional(7, 0, record("a"), record("b"))
    case.end(7, committed=True)
    case.transactional(7, 2, record("a"))
    case.end(7, committed=True)
    case.add(record("b"))
    case.transactional(7, 3, record("c"))
    case.end(7, committed=True)
    case.add(record("d"))
    for now in (1000, 1999, 2000, 2001):
        case.cleaned(now=now, dirty=0, end=8)
    return case


def _aborted() -> Case:
    case = Case("aborted transactions")
    case.add(record("a", "first"))
    case.transactional(7, 0, record("a", "aborted"), record("b", "aborted"))
    case.transactional(7, 2, record("a", None))
    case.end(7, committed=False)
    case.transactional(7, 3, record("c"))
    case.end(7, committed=True)
    case.end(9, committed=False)
    case.add(record("d"))
    for now in (1000, 2000, 2000, 3000):
        case.cleaned(now=now, dirty=0)
    return case


def _interleaved() -> Case:
    case = Case("interleaved transactions")
    case.transactional(1, 0, record("a", "1"))
    case.transactional(2, 0, record("a", "2"))
    case.transactional(1, 1, record("b", "1"))
    case.end(2, committed=False)
    case.transactional(2, 1, record("b", "2"), record("c", "2"))
    case.end(1, committed=True)
    case.transactional(1, 2, record("c", "1"))
    case.end(2, committed=True)
    case.end(1, committed=False)
    case.transactional(1, 3, record("d", "1"))
    case.end(1, committed=True)
    case.add(record("e"))
    for now in (1000, 2000, 3000, 4000):
        case.cleaned(now=now, dirty=0)
    return case


def _newest_epochs() -> Case:
    case = Case("markers with the newest epoch of a producer")
    case.transactional(7, 0, record("a"))
    case.end(7, committed=True, epoch=2)
    case.transactional(8, 0, record("b"))
    case.end(8, committed=False, epoch=2)
    case.end(9, committed=False, epoch=2)
    case.add(record("a"), record("b"))
    case.add(record("c"))
    for now in (1000, 2000, 3000):
        case.cleaned(now=now, dirty=0)
    return case


def _within_a_transaction() -> Case:
    case = Case("a pass that ends within a transaction")
    case.transactional(7, 0, record("a"))
    case.transactional(7, 1, record("b"))
    case.transactional(7, 2, record("a"))
    case.end(7, committed=False)
    case.add(record("a"))
    case.cleaned(now=1000, end=2)
    case.cleaned(now=1000, dirty=2)
    case.cleaned(now=2000, dirty=0)
    return case


def _random_transactions(seed: int) -> Case:
    rng = random.Random(seed)
    case = Case(f"random transactions {seed}")
    sequences, epochs = [0, 0, 0], [0, 0, 0]
    opened: set[int] = set()
    ends = []
    while len(case.batches) < 30 or opened:
        producer_id = rng.randrange(3)
        if producer_id in opened and rng.random() < 0.4:
            if rng.random() < 0.5:
                epochs[producer_id] += 1
                sequences[producer_id] = 0
            case.end(producer_id, rng.random() < 0.5, epoch=epochs[producer_id])
            opened.discard(producer_id)
        elif rng.random() < 0.2:
            case.add(record(rng.choice("abcde"), rng.choice(("v", None))))
        else:
            records = [
                record(rng.choice("abcde"), rng.choice(("v", "w", None)))
                for _ in range(rng.randrange(1, 3))
            ]
            case.transactional(
                producer_id, sequences[producer_id], *records, epoch=epochs[producer_id]
            )
            sequences[producer_id] += len(records)
            opened.add(producer_id)
        ends.append(case.next_offset)
    now = 1000
    for end in sorted(rng.sample(ends[5:], 4)):
        case.cleaned(now=now, end=end)
        now += rng.choice((500, 1500))
    for _ in range(3):
        case.cleaned(now=now, end=case.next_offset, dirty=0)
        now += 1000
    return case


def _random(seed: int) -> Case:
    rng = random.Random(seed)
    case = Case(f"random {seed}")
    now, ends = 1000, [0]
    for _ in range(10):
        records = [
            record(
                rng.choice("abcdefg") * rng.choice((1, 40)) if rng.random() < 0.95 else "",
                None if rng.random() < 0.2 else "v" * rng.randrange(80),
                rng.choice((now, now - rng.randrange(500), now + rng.randrange(9))),
            )
            for _ in range(rng.randrange(1, 5))
        ]
        producer = {"producer_id": rng.randrange(2), "epoch": 0, "sequence": case.next_offset}
        fields = producer if rng.random() < 0.5 else {}
        case.add(
            *records, **fields, codec=rng.choice((NONE, NONE, ZSTD)), log_append_time=seed % 3 == 2
        )
        ends.append(case.next_offset)
        now += rng.randrange(300)
    for end in sorted(rng.sample(ends[1:-1], 4)):
        case.cleaned(now=now, end=end)
        now += rng.randrange(1200)
    return case
