"""What a producer has to send: batches, in order for each partition."""

from __future__ import annotations

from random import Random

from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, record_batch

#: How far ahead of its records a false header may be.
LATEST_CLAIM_MS = 300_000


class Batch:
    def __init__(self, lane: Lane, values: tuple[str, ...], sequence: int) -> None:
        self.lane = lane
        self.values = values
        self.sequence = sequence
        self.data = b""
        self.tries = 0
        self.in_flight = False
        #: A try of it was committed before the latest try arrived.
        self.was_stored = False
        #: Its latest try did not arrive as it was sent.
        self.spoiled = False


class Lane:
    """What is to go to one partition, in order."""

    def __init__(self, topic: str, index: int) -> None:
        self.topic = topic
        self.index = index
        self.sequence = 0
        self.unacked: list[Batch] = []
        #: After a failure nothing is sent until all that was in flight has come back.
        self.recovering = False
        #: Something of this producer is in the log.
        self.stored = False
        #: How often the topic had been deleted when the producer last looked before it began.
        self.deletions: int | None = None


class Writing:
    """How a producer makes its batches: compressed, large, false about their time, or nonsense."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.codec = random.choice((NONE, NONE, GZIP, SNAPPY, LZ4, ZSTD))
        #: Requests over the read buffer's size have to ask for their memory.
        self._large = random.choice((0.0,) * 4 + (0.3,))
        self._lies = random.choice((0.0, 0.0, 0.3))
        self._nonsense = random.choice((0.0, 0.0, 0.0, 0.2))

    def batch(
        self, values: tuple[str, ...], now_ms: int, *, producer_id: int, epoch: int, sequence: int
    ) -> tuple[bytes, tuple[int, ...]]:
        """Its bytes, and the times of its records where it has any."""
        random = self._random
        padding = "." * random.choice((0, 0, 50, 400))
        if random.random() < self._large:
            padding = "." * 140_000
        times = tuple(now_ms + random.choice((0, 0, 0, 2, -7, -900)) for _ in values)
        claimed = max(times)
        if random.random() < self._lies:
            claimed += random.choice((1, 100, LATEST_CLAIM_MS))
        payload = None
        if random.random() < self._nonsense:
            payload = b"\x01" + random.randbytes(random.choice((9, 40)))
        data = record_batch(
            [(None, value + padding, (), at) for value, at in zip(values, times, strict=True)],
            producer_id=producer_id,
            epoch=epoch,
            sequence=sequence,
            codec=self.codec,
            max_timestamp=claimed,
            payload=payload,
        )
        return bytes(data), () if payload else times
