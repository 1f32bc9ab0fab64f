"""Cost of the parts of one request, without sockets: microseconds per call, best of several."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator
from functools import partial

from domain.compaction.records import find_keyless, read_records
from domain.messages.batch import HEADER_BYTES, RecordBatch, parse_single_batch
from domain.messages.message import decode_messages, decode_times
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from interfaces.kafka.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from interfaces.kafka.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from interfaces.kafka.wire.schema import decoder, encoder
from tests.fakes.batches import TIMESTAMP, Record, record_batch

Case = tuple[str, Callable[[], object]]

CODEC_NAMES = ["none", "gzip", "snappy", "lz4", "zstd"]


def measure(quick: bool) -> dict[str, float]:
    repeat = 3 if quick else 9
    results = {}
    for cases in (_codec(), _batches(), _records(), _compaction()):
        for name, call in cases:
            results[name] = _best(call, repeat)
    return results


def _best(call: Callable[[], object], repeat: int) -> float:
    timer = timeit.Timer(call)
    number, _ = timer.autorange()
    number = max(1, number // 4)
    return min(timer.repeat(repeat, number)) / number * 1e6


def _codec() -> Iterator[Case]:
    batch = record_batch([b"x" * 1000])
    request = ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            TopicProduceData(
                name="a-topic",
                partition_data=[PartitionProduceData(index=0, records=memoryview(batch))],
            )
        ],
    )
    body = memoryview(b"".join(request.encode(9)))
    decode = decoder(ProduceRequest, 9)
    yield "Produce v9 request of 1 KB: decode", lambda: decode(body, 0)

    encode_produced = encoder(ProduceResponse, 9)
    yield (
        "Produce v9 response: build, encode",
        lambda: encode_produced(
            ProduceResponse(
                responses=[
                    TopicProduceResponse(
                        name="a-topic",
                        partition_responses=[PartitionProduceResponse(index=0, base_offset=7)],
                    )
                ]
            )
        ),
    )

    records = bytes(1_000_000)
    fetched = FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic="a-topic", partitions=[PartitionData(partition_index=0, records=records)]
            )
        ]
    )
    encode_fetched = encoder(FetchResponse, 12)
    yield "Fetch v12 response of 1 MB: encode", lambda: encode_fetched(fetched)

    described = MetadataResponse(
        topics=[
            MetadataResponseTopic(
                name=f"topic-{number}",
                partitions=[
                    MetadataResponsePartition(
                        partition_index=index, leader_id=1, replica_nodes=[1], isr_nodes=[1]
                    )
                    for index in range(6)
                ],
            )
            for number in range(100)
        ]
    )
    encode_described = encoder(MetadataResponse, 12)
    yield "Metadata v12 response, 100 topics x 6: encode", lambda: encode_described(described)


def _batches() -> Iterator[Case]:
    for size_bytes in (1_000, 16_000):
        view = memoryview(record_batch([b"x" * size_bytes]))

        def check(view: memoryview = view) -> RecordBatch:
            batch = parse_single_batch(view)
            batch.check_crc(crc32c)
            batch.set_offset(7, 0)
            return batch

        yield f"batch of {size_bytes // 1000} KB: parse, CRC, place", check


def _records() -> Iterator[Case]:
    rows = [b'{"id": %d, "name": "somebody", "city": "Essen"}' % number for number in range(300)]
    plain = record_batch(rows)
    payload, base_timestamp = memoryview(plain)[61:], RecordBatch(memoryview(plain)).base_timestamp
    yield (
        "300 records: decode",
        lambda: list(decode_messages(payload, 0, base_timestamp, len(rows))),
    )
    yield (
        "300 records: times only",
        lambda: list(decode_times(payload, 0, base_timestamp, len(rows))),
    )
    compression = BatchCompression()
    for codec, name in enumerate(CODEC_NAMES[1:], 1):
        packed = memoryview(record_batch(rows, codec=codec))[61:]
        yield (
            f"{len(payload) // 1000} KB of records, {name}: decompress",
            partial(compression.decompress, codec, packed, 1 << 20),
        )


def _compaction() -> Iterator[Case]:
    """Of a batch as librdkafka fills it."""
    count = 2000
    for values, sizes in (("equal", [200] * count), ("varying", [*range(100, 300)] * 10)):
        rows: list[Record] = [
            (b"%016d" % number, bytes(size), (), TIMESTAMP) for number, size in enumerate(sizes)
        ]
        payload = bytes(record_batch(rows)[HEADER_BYTES:])
        name = f"{count} records with keys, values of {values} size"
        yield f"{name}: check", partial(find_keyless, payload, count - 1, count)
        yield f"{name}: read keys", partial(read_records, payload, 0, count - 1, count)
