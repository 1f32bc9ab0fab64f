"""The batches of a producer, in order for each partition."""

from __future__ import annotations

from random import Random

from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, Record, record_batch

#: Largest difference between a wrong header and its records.
LATEST_CLAIM_MS = 300_000
#: Share of the records of compacted topics.
TOMBSTONES = 0.3


class Batch:
    def __init__(self, lane: Lane, values: tuple[str, ...], sequence: int) -> None:
        self.lane = lane
        self.values = values
        self.sequence = sequence
        self.data = b""
        self.attempts = 0
        self.in_flight = False
        #: An earlier attempt was committed before the latest one arrived.
        self.was_stored = False
        #: Its latest attempt was corrupted in flight.
        self.corrupted = False


class Lane:
    """The batches for one partition, in order."""

    def __init__(self, topic: str, index: int) -> None:
        self.topic = topic
        self.index = index
        self.sequence = 0
        self.unacked: list[Batch] = []
        #: After a failure nothing is sent until all requests in flight have a response.
        self.recovering = False
        #: The log has batches of this producer id.
        self.stored = False
        #: The number of deletions of the topic when the producer id was new.
        self.deletions: int | None = None


class Writing:
    """How a producer builds batches: compressed, large, with wrong timestamps, or invalid."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.codec = random.choice((NONE, NONE, GZIP, SNAPPY, LZ4, ZSTD))
        #: Requests above the read buffer's size need the byte budget.
        self._large = random.choice((0.0,) * 4 + (0.3,))
        self._wrong_times = random.choice((0.0, 0.0, 0.3))
        self._invalid = random.choice((0.0, 0.0, 0.0, 0.2))

    def batch(
        self,
        values: tuple[str, ...],
        keys: tuple[str, ...] | None,
        now_ms: int,
        *,
        producer_id: int,
        epoch: int,
        sequence: int,
        transactional: bool = False,
    ) -> tuple[bytes, tuple[int, ...]]:
        """Returns its bytes, and the timestamps of its records, if they are valid."""
        random = self._random
        padding = "." * random.choice((0, 0, 50, 400))
        if random.random() < self._large:
            padding = "." * 140_000
        times = tuple(now_ms + random.choice((0, 0, 0, 2, -7, -900)) for _ in values)
        claimed = max(times)
        if random.random() < self._wrong_times:
            claimed += random.choice((1, 100, LATEST_CLAIM_MS))
        payload = None
        if keys is None and random.random() < self._invalid:
            payload = b"\x01" + random.randbytes(random.choice((9, 40)))
        rows: list[Record] = [
            (None, value + padding, (), at) for value, at in zip(values, times, strict=True)
        ]
        if keys is not None:
            rows = [
                # A tombstone has its name in a header, so that no two batches are the same.
                (key, None, [("name", value.encode())], at)
                if random.random() < TOMBSTONES
                else (key, value + padding, (), at)
                for key, value, at in zip(keys, values, times, strict=True)
            ]
        data = record_batch(
            rows,
            producer_id=producer_id,
            epoch=epoch,
            sequence=sequence,
            transactional=transactional,
            codec=self.codec,
            max_timestamp=claimed,
            payload=payload,
        )
        return bytes(data), () if payload else times
