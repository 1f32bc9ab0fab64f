"""Valid requests: captured from real clients, built by Kafka's classes, kio and our encoder."""

from __future__ import annotations

import struct
from functools import cache
from random import Random
from typing import NamedTuple

from interfaces.kafka.requests.apis import APIS, BY_KEY
from interfaces.kafka.wire.headers import CLIENT_ID_START
from interfaces.kafka.wire.messages import (
    consumer_group_heartbeat,
    fetch,
    join_group,
    leave_group,
    list_offsets,
    metadata,
    produce,
)
from interfaces.kafka.wire.schema import Request, decoder
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, record_batch
from tests.fakes.client import frame
from tests.fakes.consumer_protocol import subscription
from tests.fakes.plain_requests import REQUESTS, TOPIC_ID
from tests.golden.frames import lines, request_body
from tests.property.interfaces.kafka.wire.kio_codec import kio_bytes, kio_class, random_entity

#: A plain topic, a compacted one, one with LogAppendTime, one with timestamp limits.
TOPICS = ("t", "compacted", "stamped", "recent")

PREFIX = struct.Struct(">i")
KIO_PER_VERSION = 3


class Valid(NamedTuple):
    """A request without its length prefix; `body` is the offset of its body."""

    key: int
    version: int
    body: int
    data: bytes
    #: True if it needs a response; random values of kio may be invalid.
    sensible: bool = True

    @property
    def message(self) -> type[Request]:
        found: type[Request] = getattr(
            BY_KEY[self.key].messages(), f"{BY_KEY[self.key].title}Request"
        )
        return found

    def decoded(self) -> Request:
        request, _ = decoder(self.message, self.version)(
            memoryview(bytearray(self.data)), self.body
        )
        assert isinstance(request, Request)
        return request

    def numbered(self, correlation_id: int) -> bytes:
        return self.data[:4] + PREFIX.pack(correlation_id) + self.data[8:]


def valid(data: bytes, sensible: bool = True) -> Valid:
    key, version, body = request_body(data)
    return Valid(key, version, body, data, sensible)


@cache
def corpus() -> tuple[Valid, ...]:
    rng = Random("corpus")
    found: list[Valid] = []
    for api in APIS:
        for file in ("captured", "built"):
            found += [
                _golden(line["request"]) for line in lines(api.name, file) if _usable(line, api.key)
            ]
        for version in range(api.first_served, api.max_version + 1):
            found.append(valid(frame(REQUESTS[api.name](version), version)[4:]))
            found += [_from_kio(api.key, version, rng) for _ in range(KIO_PER_VERSION)]
    about = [*_about_topics(), *_about_groups()]
    found += [valid(frame(request, version)[4:]) for request, version in about]
    return tuple(found)


@cache
def large() -> tuple[Valid, ...]:
    """Requests above the size of the read buffer."""
    batches = [bytes(record_batch(["x" * size])) for size in (135_000, 200_000, 280_000)]
    return tuple(valid(frame(_produce("t", one, -1), 9)[4:]) for one in batches)


def _usable(line: dict[str, object], key: int) -> bool:
    version = line["version"]
    assert isinstance(version, int)
    return bool(line.get("request")) and BY_KEY[key].serves(version)


def _golden(request: str) -> Valid:
    return valid(bytes.fromhex(request))


def _from_kio(key: int, version: int, rng: Random) -> Valid:
    """Random values of the schema, encoded by kio."""
    plain = valid(frame(REQUESTS[BY_KEY[key].name](version), version)[4:])
    body = kio_bytes(random_entity(kio_class(plain.message, version), rng))
    return Valid(key, version, plain.body, plain.data[: plain.body] + body, sensible=False)


def _about_topics() -> list[tuple[Request, int]]:
    found: list[tuple[Request, int]] = []
    batches = [record_batch(["a", "b"], codec=codec) for codec in (NONE, GZIP, SNAPPY, LZ4, ZSTD)]
    batches += [
        record_batch([(b"k", b"v", [("h", b"1")], 1_700_000_000_000 + i) for i in range(20)]),
        record_batch(["x"], producer_id=1, epoch=0, sequence=0),
        record_batch(["x" * 3000] * 30),
    ]
    for name in TOPICS:
        found += [
            (_produce(name, bytes(batch), acks), 9) for batch in batches for acks in (-1, 0, 1)
        ]
        found += [(_fetch(name, offset, epoch), 12) for offset in (0, 1, 9) for epoch in (-1, 0)]
        found += [(_list_offsets(name, time), 7) for time in (-1, -2, -3, 0, 1_700_000_000_001)]
        found.append(
            (metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=name)]), 12)
        )
    found.append((metadata.MetadataRequest(topics=None), 9))
    return found


def _about_groups() -> list[tuple[Request, int]]:
    """Members of groups of both protocols, and their next requests."""
    metadata = subscription(*TOPICS)
    protocol = join_group.JoinGroupRequestProtocol(name="range", metadata=metadata)
    joins = [
        join_group.JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=6_000,
            rebalance_timeout_ms=1_000,
            group_instance_id=instance_id,
            protocol_type="consumer",
            protocols=[protocol],
        )
        for group_id in ("classic", "modern")
        for instance_id in (None, "i")
    ]
    beats = [
        consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
            group_id=group_id,
            member_id=member_id,
            member_epoch=epoch,
            rebalance_timeout_ms=1_000,
            subscribed_topic_names=list(TOPICS) if epoch == 0 else None,
            subscribed_topic_regex="(t|s.*)" if member_id == "n" else None,
            topic_partitions=[],
        )
        for group_id in ("classic", "modern")
        for member_id in ("m", "n")
        for epoch in (0, 1, 2, -1)
    ]
    leaving = leave_group.MemberIdentity(member_id="", group_instance_id="i")
    return [
        *((one, 5) for one in joins),
        *((one, 1) for one in beats),
        (leave_group.LeaveGroupRequest(group_id="classic", members=[leaving]), 4),
    ]


def _produce(name: str, batch: bytes, acks: int) -> Request:
    data = [produce.PartitionProduceData(index=0, records=memoryview(batch))]
    topics = [produce.TopicProduceData(name=name, partition_data=data)]
    return produce.ProduceRequest(acks=acks, topic_data=topics)


def _fetch(name: str, offset: int, session_epoch: int) -> Request:
    partitions = [
        fetch.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=50_000)
    ]
    topics = [fetch.FetchTopic(topic=name, topic_id=TOPIC_ID, partitions=partitions)]
    return fetch.FetchRequest(max_wait_ms=300, session_epoch=session_epoch, topics=topics)


def _list_offsets(name: str, timestamp: int) -> Request:
    partitions = [list_offsets.ListOffsetsPartition(partition_index=0, timestamp=timestamp)]
    topics = [list_offsets.ListOffsetsTopic(name=name, partitions=partitions)]
    return list_offsets.ListOffsetsRequest(topics=topics)


__all__ = ["CLIENT_ID_START", "PREFIX", "TOPICS", "Valid", "corpus"]
