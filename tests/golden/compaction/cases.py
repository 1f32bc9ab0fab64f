"""Logs, and passes of compaction over them, for Kafka's cleaner and for ours."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from domain.messages.batch import RecordBatch
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
        batch = RecordBatch(memoryview(record_batch(records, **fields)))
        batch.set_offset(self.next_offset, 3)
        self.batches.append(bytes(batch.buffer))
        self.next_offset = batch.last_offset + 1

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
