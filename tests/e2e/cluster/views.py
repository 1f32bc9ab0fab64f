"""What single brokers respond of the cluster, by requests written by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from tests.e2e.broker_process import Address
from tests.e2e.raw_client import LIST_OFFSETS, METADATA, RawClient, Reader, array, string

OFFSET_FETCH, FIND_COORDINATOR = 9, 10
LATEST = -1


class Partition(NamedTuple):
    error: int
    leader: int
    epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


class Cluster(NamedTuple):
    nodes: dict[int, Address]
    controller: int
    #: By topic and index.
    partitions: dict[tuple[str, int], Partition]

    def leaders(self, topic: str) -> list[int]:
        return [one.leader for (name, _), one in sorted(self.partitions.items()) if name == topic]


class Place(NamedTuple):
    error: int
    offset: int
    epoch: int


def _numbers(response: Reader) -> tuple[int, ...]:
    return response.take(f"{response.take('i')[0]}i")


def metadata(client: RawClient, topics: Sequence[str]) -> Cluster:
    """Metadata v7; topics are not created."""
    response = client.request(METADATA, 7, array(map(string, topics)) + b"\0")
    response.take("i")
    nodes = {}
    for _ in range(response.take("i")[0]):
        [node_id] = response.take("i")
        host = response.string()
        nodes[node_id] = Address(host, response.take("i")[0])
        response.string()
    response.string()
    controller, count = response.take("ii")
    partitions = {}
    for _ in range(count):
        response.take("h")
        name = response.string()
        _internal, partition_count = response.take("bi")
        for _ in range(partition_count):
            error, index, leader, epoch = response.take("hiii")
            lists = [_numbers(response) for _ in range(3)]
            partitions[name, index] = Partition(error, leader, epoch, lists[0], lists[1])
    return Cluster(nodes, controller, partitions)


def cluster_seen_by(address: Address, topics: Sequence[str] = ()) -> Cluster:
    with address.connect() as client:
        return metadata(client, topics)


def end_of(client: RawClient, topic: str, partition: int) -> Place:
    """The high watermark and the leader epoch, by ListOffsets v4."""
    asked = string(topic) + array([struct.pack(">iiq", partition, -1, LATEST)])
    response = client.request(LIST_OFFSETS, 4, struct.pack(">ib", -1, 0) + array([asked]))
    response.take("ii"), response.string()
    _count, _index, error, _time, offset, epoch = response.take("iihqqi")
    return Place(error, offset, epoch)


def coordinator_of(client: RawClient, group: str) -> tuple[int, int]:
    """The error and the node id."""
    response = client.request(FIND_COORDINATOR, 0, string(group))
    error, node_id = response.take("hi")
    return error, node_id


def transaction_coordinator_of(client: RawClient, transactional_id: str) -> tuple[int, int]:
    """The error and the node id, by FindCoordinator v1."""
    response = client.request(FIND_COORDINATOR, 1, string(transactional_id) + b"\1")
    response.take("i")
    [error] = response.take("h")
    response.string()
    return error, response.take("i")[0]


def committed_in(client: RawClient, group: str) -> tuple[int, dict[tuple[str, int], int]]:
    """The error, and the committed offsets."""
    response = client.request(OFFSET_FETCH, 2, string(group) + struct.pack(">i", -1))
    found = {}
    for _ in range(response.take("i")[0]):
        topic = response.string()
        for _ in range(response.take("i")[0]):
            index, offset = response.take("iq")
            response.string()
            response.take("h")
            found[topic, index] = offset
    return response.take("h")[0], found
