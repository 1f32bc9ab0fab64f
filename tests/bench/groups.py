"""Consumer groups: offset commits and fetches per second, and how long rebalances take."""

from __future__ import annotations

import base64
import json
import struct
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.bench.brokers import Broker
from tests.bench.client_process import client
from tests.bench.filled import create
from tests.bench.gauges import Figures
from tests.bench.raw_loads import Rawbench
from tests.bench.runs import Load, LoadFailed
from tests.e2e.raw_client import RawClient, array, frame, string

OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 8, 9, 10
COMMIT_VERSION, FETCH_VERSION = 7, 5
#: Type of the key in FindCoordinator.
_GROUP = 0
TOPIC, PARTITIONS = "committed", 6
#: Requests of one connection, sent in turn.
_OFFSETS = 16

ONE_BY_ONE, TOGETHER, MANY = 1, 10, 100
MEMBERS_TOPIC, MEMBERS_PARTITIONS = "members", 100
REBALANCED = {"classic": (2, 10, 50, 500), "consumer": (2, 10, 50)}


def offset_loads(rawbench: Rawbench, cache: Path, seconds: float) -> Iterator[Load]:
    """Each connection is a consumer of its own group, with six partitions and no membership."""
    for count in (ONE_BY_ONE, TOGETHER, MANY):
        for words, bodies in (("commits", _commits), ("fetches", _fetches)):
            run = partial(_exchange, rawbench, cache, bodies, count, seconds)
            yield Load(f"{words}, {count} connection{'s' if count > 1 else ''}", run, _committed)


def rebalance_loads() -> Iterator[Load]:
    for protocol, counts in REBALANCED.items():
        for count in counts:
            run = partial(_rebalance, protocol, count)
            yield Load(f"{protocol}, {count} members", run, _committed)


def _rebalance(protocol: str, count: int, broker: Broker) -> Figures:
    if MEMBERS_TOPIC not in broker.filled:
        create(broker, MEMBERS_TOPIC, MEMBERS_PARTITIONS)
        broker.filled.add(MEMBERS_TOPIC)
    partitions = ("--partitions", MEMBERS_PARTITIONS)
    return client(
        "members", broker.address, MEMBERS_TOPIC, protocol, "--members", count, *partitions
    )


Bodies = Callable[[int], tuple[int, int, list[bytes]]]


def _commits(connection: int) -> tuple[int, int, list[bytes]]:
    head = string(_group(connection)) + struct.pack(">i", -1) + string("") + string(None)
    return OFFSET_COMMIT, COMMIT_VERSION, [head + _offsets(one) for one in range(_OFFSETS)]


def _offsets(offset: int) -> bytes:
    partitions = (
        struct.pack(">iqi", index, 1000 + offset, 0) + string("") for index in range(PARTITIONS)
    )
    return array([string(TOPIC) + array(partitions)])


def _fetches(connection: int) -> tuple[int, int, list[bytes]]:
    partitions = array(struct.pack(">i", index) for index in range(PARTITIONS))
    body = string(_group(connection)) + array([string(TOPIC) + partitions])
    return OFFSET_FETCH, FETCH_VERSION, [body]


def _group(connection: int) -> str:
    return f"bench-{connection}"


def _committed(broker: Broker) -> None:
    """Waits for the coordinator and commits offsets for each group."""
    if TOPIC in broker.filled:
        return
    create(broker, TOPIC, PARTITIONS)
    with broker.connect() as one:
        for connection in range(MANY):
            find_coordinator(one, _group(connection))
            api, version, bodies = _commits(connection)
            for body in bodies:
                while any(_commit_errors(one.request(api, version, body).rest())):
                    pass  # or is still loading it
    broker.filled.add(TOPIC)


def find_coordinator(client: RawClient, key: str, kind: int = _GROUP) -> None:
    """Kafka creates __consumer_offsets on the first FindCoordinator."""
    while client.request(FIND_COORDINATOR, 1, string(key) + bytes([kind])).take("ih")[1]:
        time.sleep(0.05)


def _commit_errors(response: bytes) -> list[int]:
    start = len(response) - PARTITIONS * 6
    return [error for _, error in struct.iter_unpack(">ih", response[start:])]


def _exchange(
    rawbench: Rawbench, cache: Path, bodies: Bodies, count: int, seconds: float, broker: Broker
) -> Figures:
    exchanges = []
    with broker.connect() as one:
        for connection in range(count):
            api, version, requests = bodies(connection)
            responses = {one.request(api, version, body).rest() for body in requests}
            if len(responses) != 1:
                raise LoadFailed("a response is not always the same")
            frames = [frame(api, version, 0, body, "rawbench") for body in requests]
            exchanges.append((frames, responses.pop()))
    file = cache / "exchanges.json"
    file.write_text(json.dumps([_in_json(*each) for each in exchanges]))
    return rawbench.exchange(broker, file, count, seconds)


def _in_json(requests: list[bytes], response: bytes) -> dict[str, object]:
    texts = [base64.b64encode(request).decode() for request in requests]
    return {"requests": texts, "answer": base64.b64encode(response).decode()}
