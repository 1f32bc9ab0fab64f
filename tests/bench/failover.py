"""A cluster of three brokers: the one that leads all partitions dies or stops, and leads again.

Every partition has a record and three replicas. Until others lead is measured by Metadata of a
broker that stays; until they serve, by their end offsets. Then the broker starts again, leads as
before after a preferred election, and all learn of a new topic. The time after SIGKILL has the
session timeout in it.
"""

from __future__ import annotations

import signal
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import permutations
from pathlib import Path
from typing import Protocol

from tests.bench.brokers import Broker, BrokerFailed, kafka_nodes, start_kafka
from tests.bench.gauges import Figures
from tests.bench.runs import LoadFailed, Runs
from tests.e2e.broker_process import Address
from tests.e2e.cluster.brokers import Brokers, store_of
from tests.e2e.cluster.views import LATEST, Cluster, metadata
from tests.e2e.raw_client import LIST_OFFSETS, RawClient, array, batch, string
from tests.fakes.postgres import Postgres

PART = "failover"
#: All led by the broker that ends.
PARTITIONS = 1000
NODE_IDS = (1, 2, 3)
#: The broker that ends, and the one that is asked.
ENDS, ASKED = 3, 1
_TOPIC, _ELECT_LEADERS, _PREFERRED = "failover", 43, 0
_PATIENCE_S, _POLL_S = 60.0, 0.01
#: After SIGKILL the second one leads all of them: of an election, it is the one that loses.
_REPLICAS = (ENDS, 1, 2)
_OF_NEW_TOPIC = tuple(permutations(NODE_IDS))


class Node(Protocol):
    @property
    def address(self) -> Address: ...

    def signal(self, number: int) -> None: ...

    def start_again(self) -> None: ...


Nodes = Mapping[int, Node]


class OttlaNode:
    def __init__(self, brokers: Brokers, node_id: int) -> None:
        self._broker = brokers[node_id]

    @property
    def address(self) -> Address:
        return self._broker.address

    def signal(self, number: int) -> None:
        assert self._broker.process
        self._broker.process.send_signal(number)

    def start_again(self) -> None:
        assert self._broker.process
        self._broker.process.wait()
        self._broker.start()


class KafkaNode:
    def __init__(self, broker: Broker, libs: Path) -> None:
        self.broker, self._libs = broker, libs

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.broker.port)

    def signal(self, number: int) -> None:
        self.broker.process.send_signal(number)

    def start_again(self) -> None:
        self.broker.process.wait()
        self.broker = start_kafka(self._libs, [self.broker.folder])


@contextmanager
def ottlas(server: Postgres, cache: Path) -> Iterator[Nodes]:
    stores = dict.fromkeys(NODE_IDS, store_of(server.folder, "failover"))
    folder = cache.absolute() / "failover"
    with Brokers(folder, stores, settings=("--log-requests", "off")) as brokers:
        yield {one: OttlaNode(brokers, one) for one in NODE_IDS}


@contextmanager
def kafkas(libs: Path, cache: Path) -> Iterator[Nodes]:
    contender, folder = kafka_nodes(libs), cache / "failover-kafka"
    contender.prepare(folder)
    started = contender.start(folder).nodes
    nodes = {one: KafkaNode(node, libs) for one, node in zip(NODE_IDS, started, strict=True)}
    try:
        yield nodes
    finally:
        for one in nodes.values():
            one.signal(signal.SIGKILL)
            one.broker.process.wait()


def measure(runs: Runs, name: str, started: AbstractContextManager[Nodes], rounds: int) -> None:
    try:
        with started as nodes, nodes[ASKED].address.connect() as client:
            _fill(client, nodes)
            for _ in range(rounds):
                for end in (signal.SIGKILL, signal.SIGTERM):
                    figures, back = _round(client, nodes, end)
                    runs.add(PART, end.name, name, figures)
                    runs.add(PART, f"preferred election after {end.name}", name, back)
                    runs.add(PART, "a new topic", name, _new_topic(client, nodes))
    except (AssertionError, BrokerFailed, LoadFailed, OSError) as failure:
        runs.add_failure(PART, "three brokers", name, str(failure))


def _fill(client: RawClient, nodes: Nodes) -> None:
    if error := client.create_topic(_TOPIC, replicas=[_REPLICAS] * PARTITIONS):
        raise LoadFailed(f"the topic was not created, error {error}")
    _until(lambda: _is_home(_seen(client)))
    with nodes[ENDS].address.connect() as leader:
        for index in range(PARTITIONS):
            _until(lambda at=index: leader.produce(_TOPIC, batch([b"1"]), at).error == 0)
    _until(lambda: _serve(nodes, _leaders(client)))


def _round(client: RawClient, nodes: Nodes, end: signal.Signals) -> tuple[Figures, Figures]:
    before, began = _leaders(client), time.perf_counter()
    nodes[ENDS].signal(end)
    elsewhere = _led(client, nodes, before, began, lambda led: not {ENDS, -1} & set(led))
    nodes[ENDS].start_again()
    _until(lambda: all(ENDS in one.in_sync for one in _seen(client).partitions.values()))
    before, began = _leaders(client), time.perf_counter()
    _elect(client)
    return elsewhere, _led(client, nodes, before, began, lambda led: set(led) == {ENDS})


def _new_topic(client: RawClient, nodes: Nodes) -> Figures:
    """From the request to one broker until all know the leaders."""
    with ExitStack() as stack:
        clients = [stack.enter_context(nodes[one].address.connect()) for one in NODE_IDS]
        for _ in range(2):  # the first waits for the end of the election
            name, began = f"new-{time.monotonic_ns()}", time.perf_counter()
            if error := client.create_topic(name, replicas=_OF_NEW_TOPIC):
                raise LoadFailed(f"the topic was not created, error {error}")
            _until(lambda of=name: all(_has_leaders(each, of) for each in clients))
    return {"led_ms": (time.perf_counter() - began) * 1000}


def _has_leaders(client: RawClient, topic: str) -> bool:
    leaders = metadata(client, [topic]).leaders(topic)
    return len(leaders) == len(_OF_NEW_TOPIC) and -1 not in leaders


def _led(
    client: RawClient,
    nodes: Nodes,
    before: list[int],
    began: float,
    as_wanted: Callable[[list[int]], bool],
) -> Figures:
    """`before`: the leaders, of which those that change are counted."""
    _until(lambda: as_wanted(_leaders(client)))
    led_s = time.perf_counter() - began
    _until(lambda: _serve(nodes, _leaders(client)))
    served_s = time.perf_counter() - began
    moved = sum(was != leads for was, leads in zip(before, _leaders(client), strict=True))
    return {"moved": moved, "led_ms": led_s * 1000, "served_ms": served_s * 1000}


def _is_home(cluster: Cluster) -> bool:
    found = cluster.partitions
    return len(found) == PARTITIONS and all(
        one.leader == one.replicas[0] and len(one.in_sync) == len(NODE_IDS)
        for one in found.values()
    )


def _seen(client: RawClient) -> Cluster:
    return metadata(client, [_TOPIC])


def _leaders(client: RawClient) -> list[int]:
    return _seen(client).leaders(_TOPIC)


def _elect(client: RawClient) -> None:
    """Ends when the preferred leaders lead, in Ottla."""
    chosen = string(_TOPIC) + array(struct.pack(">i", index) for index in range(PARTITIONS))
    body = struct.pack(">b", _PREFERRED) + array([chosen])
    client.request(_ELECT_LEADERS, 1, body + struct.pack(">i", int(_PATIENCE_S * 1000)))


def _serve(nodes: Nodes, leaders: list[int]) -> bool:
    """Whether the leader of each partition responds that it has the record."""
    return all(
        _has_records(nodes[node_id].address, [n for n, led in enumerate(leaders) if led == node_id])
        for node_id in set(leaders)
    )


def _has_records(address: Address, indexes: list[int]) -> bool:
    asked = array(struct.pack(">iiq", index, -1, LATEST) for index in indexes)
    with address.connect() as client:
        body = struct.pack(">ib", -1, 0) + array([string(_TOPIC) + asked])
        response = client.request(LIST_OFFSETS, 4, body)
    response.take("ii"), response.string()
    [count] = response.take("i")
    found = [response.take("ihqqi") for _ in range(count)]
    return all(error == 0 and offset == 1 for _, error, _, offset, _ in found)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise LoadFailed(f"not after {_PATIENCE_S} s")
        time.sleep(_POLL_S)
