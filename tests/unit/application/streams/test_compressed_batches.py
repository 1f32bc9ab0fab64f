"""Batches that are much larger inside, and records that are much smaller than their objects."""

from __future__ import annotations

import tracemalloc

from application.ports.request_log import Requester
from application.streams.blocks import MOST_BYTES, Block, Blocks, block_of
from application.streams.stream import READ_BYTES, RawStream
from domain.security.principal import ANONYMOUS
from tests.fakes.batches import ZSTD, record_batch
from tests.fakes.broker import FakeBroker


class Follower:
    def advanced(self) -> None:
        pass


def stream_of(fake: FakeBroker) -> RawStream:
    assert fake.broker.streams is not None
    return fake.broker.streams.open(Requester(ANONYMOUS, None, "192.0.2.7:40001"))


def with_large_batches(count: int) -> FakeBroker:
    fake = FakeBroker(raw_listeners="127.0.0.1:0", raw_topic="t")
    fake.topic("t")
    for _ in range(count):
        fake.appended(record_batch([bytes(READ_BYTES).decode()], codec=ZSTD))
    return fake


def test_a_step_of_the_index_opens_few_batches_that_are_much_larger_inside() -> None:
    fake = with_large_batches(10)
    stream = stream_of(fake)
    before = fake.commit.count
    stream.follow(Follower())
    fake.run()
    assert fake.commit.count - before == 10
    assert stream.locate(9 * (READ_BYTES + 4)) == 9


def test_a_consumer_gets_few_of_them_at_once() -> None:
    fake = with_large_batches(3)
    stream = stream_of(fake)
    stream.follow(Follower())
    fake.run()
    assert stream.read(1).size_bytes == READ_BYTES + 4
    assert stream.read(1).next_offset == 2


def test_small_pieces_are_joined_and_large_ones_are_not_copied() -> None:
    small, large = [b"piece"] * 100, [bytes(4096), bytes(4096)]
    assert block_of(small, 500, 100) == Block([b"piece" * 100], 500, 100)
    assert block_of(large, 8192, 2).pieces is large


def test_blocks_hold_no_more_memory_than_their_limit() -> None:
    """Of the smallest records, each of which was appended alone."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        blocks = Blocks()
        for offset in range(30_000):
            blocks.put(offset, Block([bytes(4 + offset % 2)], 5, offset + 1))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before <= MOST_BYTES
    joined = blocks.from_offset(29_000, READ_BYTES)
    assert (len(joined.pieces), joined.next_offset) == (1, 30_000)
