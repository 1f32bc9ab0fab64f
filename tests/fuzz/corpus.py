"""What honest clients send: captured from real ones, made by Kafka's classes, kio and ourselves."""

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

#: A plain topic, one whose batches are opened, one that stamps, one that checks times.
TOPICS = ("t", "compacted", "stamped", "recent")

PREFIX = struct.Struct(">i")
KIO_PER_VERSION = 3


class Honest(NamedTuple):
    """A request without its length; `body` is where its body begins."""

    key: int
    version: int
    body: int
    data: bytes
    #: Whether it must be answered: what kio draws at random need not make sense.
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


def honest(data: bytes, sensible: bool = True) -> Honest:
    key, version, body = request_body(data)
    return Honest(key, version, body, data, sensible)


@cache
def corpus() -> tuple[Honest, ...]:
    rng = Random("corpus")
    found: list[Honest] = []
    for api in APIS:
        for file in ("captured", "built"):
            found += [
                _golden(line["request"]) for line in lines(api.name, file) if _usable(line, api.key)
            ]
        for version in range(api.first_served, api.max_version + 1):
            found.append(honest(frame(REQUESTS[api.name](version), version)[4:]))
            found += [_from_kio(api.key, version, rng) for _ in range(KIO_PER_VERSION)]
    about = [*_about_topics(), *_about_groups()]
    found += [honest(frame(request, version)[4:]) for request, version in about]
    return tuple(found)


@cache
def large() -> tuple[Honest, ...]:
    """Larger than what all connections read into."""
    batches = [bytes(record_batch(["x" * size])) for size in (135_000, 200_000, 280_000)]
    return tuple(honest(frame(_produce("t", one, -1), 9)[4:]) for one in batches)


def _usable(line: dict[str, object], key: int) -> bool:
    version = line["version"]
    assert isinstance(version, int)
    return bool(line.get("request")) and BY_KEY[key].serves(version)


def _golden(request: str) -> Honest:
    return honest(bytes.fromhex(request))


def _from_kio(key: int, version: int, rng: Random) -> Honest:
    """Any values that the schema allows, in bytes that are not our encoder's."""
    plain = honest(frame(REQUESTS[BY_KEY[key].name](version), version)[4:])
    body = kio_bytes(random_entity(kio_class(plain.message, version), rng))
    return Honest(key, version, plain.body, plain.data[: plain.body] + body, sensible=False)


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
    """Members that are there, of both protocols, and what they do next."""
    said = subscription(*TOPICS)
    protocol = join_group.JoinGroupRequestProtocol(name="range", metadata=said)
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
    wanted = [fetch.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=50_000)]
    topics = [fetch.FetchTopic(topic=name, topic_id=TOPIC_ID, partitions=wanted)]
    return fetch.FetchRequest(max_wait_ms=300, session_epoch=session_epoch, topics=topics)


def _list_offsets(name: str, timestamp: int) -> Request:
    wanted = [list_offsets.ListOffsetsPartition(partition_index=0, timestamp=timestamp)]
    topics = [list_offsets.ListOffsetsTopic(name=name, partitions=wanted)]
    return list_offsets.ListOffsetsRequest(topics=topics)


__all__ = ["CLIENT_ID_START", "PREFIX", "TOPICS", "Honest", "corpus"]
