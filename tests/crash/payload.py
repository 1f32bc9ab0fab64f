"""Makes batches of every kind, all different."""

from __future__ import annotations

import random
import time

from tests.crash.ledger import Batch
from tests.e2e.raw_client import NO_PRODUCER, batch
from tests.fakes.batches import GZIP, LZ4, SNAPPY, ZSTD, record_batch

LARGE_VALUE_BYTES = 1_000_000


class Payload:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.timestamp = int(time.time() * 1000) - 1_000_000

    def next_timestamp(self) -> int:
        """Mostly increasing timestamps; now and then a late one."""
        self.timestamp += 1
        return self.timestamp - (self.chance.randrange(500) if self.chance.random() < 0.1 else 0)

    def small(self, producer: tuple[int, int, int] = NO_PRODUCER) -> Batch:
        chance = self.chance
        values = [chance.randbytes(chance.randint(20, 400)) for _ in range(chance.randint(1, 4))]
        return self._plain(values, producer)

    def large(self, producer: tuple[int, int, int] = NO_PRODUCER) -> Batch:
        return self._plain([self.chance.randbytes(LARGE_VALUE_BYTES)], producer)

    def any(self, producer: tuple[int, int, int] = NO_PRODUCER) -> Batch:
        drawn = self.chance.random()
        if drawn < 0.7:
            return self.small(producer)
        if drawn < 0.9:
            return self._compressed(producer)
        return self._plain([self.chance.randbytes(self.chance.randint(4_000, 40_000))], producer)

    def _plain(self, values: list[bytes], producer: tuple[int, int, int]) -> Batch:
        return Batch(batch(values, timestamp_ms=self.next_timestamp(), producer=producer))

    def _compressed(self, producer: tuple[int, int, int]) -> Batch:
        chance, stamp = self.chance, self.next_timestamp()
        words = [f"{stamp} {chance.getrandbits(64)} {'again ' * 50}" for _ in range(3)]
        producer_id, epoch, sequence = producer
        return Batch(
            bytes(
                record_batch(
                    list(words),
                    codec=chance.choice([GZIP, SNAPPY, LZ4, ZSTD]),
                    timestamp=stamp,
                    producer_id=producer_id,
                    epoch=epoch,
                    sequence=sequence,
                )
            )
        )
