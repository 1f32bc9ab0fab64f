"""A broker that dies while it compacts: the newest acknowledged record of each key is there."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from domain.messages.batch import batches_in
from tests.crash.broker import VIOLENT, Broker, Nursery
from tests.crash.ledger import Broken
from tests.crash.points import FILES_POINTS_OF_COMPACTION, FLUSHES
from tests.crash.store import check_store
from tests.e2e.broker_process import wait_until
from tests.e2e.raw_client import RawClient
from tests.fakes.batches import Record, record_batch
from tests.fakes.compaction import messages_of

KEYS = 12
#: Each batch begins a segment.
SMALLEST, SMALL = "log.roll.ms=1", "log.roll.ms=40"
SETTINGS = (
    "log.cleanup.policy=compact",
    "log.cleaner.backoff.ms=1",
    "log.cleaner.min.cleanable.ratio=0.01",
)
POINTS = [
    f"compaction: {moment}"
    for moment in ("staged, first", "before the commit", "committed, no response sent")
]


class KeyedLog:
    """What was sent to one partition, and what is read of it after each death."""

    def __init__(self, broker: Broker, chance: random.Random) -> None:
        self.broker, self.chance = broker, chance
        self.now_ms = int(time.time() * 1000) - 1_000_000
        self.sent: dict[bytes, list[bytes | None]] = {}
        #: By key: offset and value of the newest acknowledged record.
        self.acknowledged: dict[bytes, tuple[int, bytes | None]] = {}
        self.next_offset = 0
        self.removed = 0

    def produce_until_it_dies(self) -> None:
        with RawClient("127.0.0.1", self.broker.port, patience_s=20) as client:
            client.create_topic("keyed", 1)
            while True:
                self._produce(client)

    def _produce(self, client: RawClient) -> None:
        self.now_ms += 10
        rows: list[Record] = []
        for _ in range(self.chance.randint(1, 6)):
            key = b"%d" % self.chance.randrange(KEYS)
            value = self.chance.choice(
                (None, self.chance.randbytes(self.chance.choice((20, 9000))))
            )
            rows.append((key, value, (), self.now_ms))
            self.sent.setdefault(key, []).append(value)
        offset = client.produce("keyed", bytes(record_batch(rows))).base_offset
        for at, (key, value, _, _) in enumerate(rows):  # type: ignore[misc]
            self.acknowledged[key] = (offset + at, value)
        self.next_offset = offset + len(rows)

    def check(self) -> None:
        with RawClient("127.0.0.1", self.broker.port, patience_s=10) as client:
            end, position, found = 1, 0, []
            while position < end:
                fetched = client.fetch("keyed", position)
                end = fetched.high_watermark
                for batch in batches_in(bytes(fetched.records)):
                    found += messages_of(batch)
                    position = batch.last_offset + 1
        if end < self.next_offset:
            raise Broken(f"acknowledged up to {self.next_offset}, the log ends at {end}")
        offsets = [one.offset for one in found]
        if offsets != sorted(set(offsets)):
            raise Broken("offsets do not rise")
        self.removed = end - len(found)
        newest = {one.key: (one.offset, one.value) for one in found}
        for key, (offset, value) in self.acknowledged.items():
            there = newest.get(key, (-1, None))
            if there != (offset, value) and not self._is_later(key, there, offset):
                raise Broken(f"key {key!r}: {there[0]} is the newest, acknowledged was {offset}")

    def is_compacted(self) -> bool:
        self.check()
        return self.removed > self.next_offset // 2

    def _is_later(self, key: bytes, there: tuple[int, bytes | None], offset: int) -> bool:
        """One that was not acknowledged."""
        return there[0] > offset and there[1] in self.sent[key]


@pytest.mark.parametrize(
    "flush", [FLUSHES[0], *(pytest.param(one, marks=pytest.mark.long) for one in FLUSHES[1:])]
)
def test_the_newest_record_of_each_key_survives(
    nursery: Nursery, tmp_path: Path, flush: str
) -> None:
    broker = Broker(nursery, tmp_path, flush, settings=(*SETTINGS, SMALLEST))
    live(KeyedLog(broker, random.Random(flush)), POINTS * 3)
    check_store(tmp_path / "data")


@pytest.mark.parametrize("roll", [SMALLEST, pytest.param(SMALL, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "flush", [FLUSHES[0], *(pytest.param(one, marks=pytest.mark.long) for one in FLUSHES[1:])]
)
def test_the_newest_record_of_each_key_survives_in_files(
    nursery: Nursery, tmp_path: Path, flush: str, roll: str
) -> None:
    broker = Broker(nursery, tmp_path, flush, settings=(*SETTINGS, roll), engine="files")
    live(KeyedLog(broker, random.Random(flush)), [*FILES_POINTS_OF_COMPACTION, *POINTS])
    check_store(tmp_path / "data", "files")


def live(log: KeyedLog, points: Sequence[str]) -> None:
    die_at(log, points)
    assert log.broker.start()
    wait_until(log.is_compacted)
    log.broker.kill()


def die_at(log: KeyedLog, points: Sequence[str]) -> None:
    broker = log.broker
    for point in points:
        passage = log.chance.randint(1, 8)
        assert broker.start(point=point, passage=passage), f"{point}\n{broker.log()}"
        with pytest.raises(ConnectionError):
            log.produce_until_it_dies()
        assert broker.wait() in VIOLENT
        assert broker.start()
        log.check()
        broker.kill()
