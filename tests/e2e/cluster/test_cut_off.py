"""A leader that does not reach PostgreSQL any more: its clients find the next one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer

from tests.contract.postgres_server import running_postgres
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import wait_until
from tests.e2e.cluster.brokers import SETTINGS, Brokers, new_schema, store_of
from tests.e2e.conftest import EXTERNAL
from tests.e2e.librdkafka import deliver, producer, read_values
from tests.e2e.raw_client import (
    NOT_LEADER_OR_FOLLOWER,
    PRODUCE,
    batch,
    produce_body,
    read_produced,
)
from tests.fakes.postgres_relay import PostgresRelay

TOPIC = "cut-off"
OFFSETS = "__consumer_offsets"
TIMEOUT_MS = 500
STAYS = ("--set", "auto.leader.rebalance.enable=false")
PATIENT = {"socket.timeout.ms": 60_000, "enable.auto.commit": False}
TRANSACTIONAL = {"transactional.id": "t", "transaction.timeout.ms": 60_000}


class CutOff(NamedTuple):
    brokers: Brokers
    #: By node id: what holds messages to and from PostgreSQL.
    relays: dict[int, PostgresRelay]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[CutOff]:
    """Broker 1 coordinates groups and transactions; broker 2 leads the topic."""
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    server, schema = running_postgres(), new_schema()
    relays = {one: PostgresRelay(server.folder) for one in (1, 2)}
    try:
        stores = {one: store_of(relay.folder, schema) for one, relay in relays.items()}
        with Brokers(tmp_path, stores, settings=(*SETTINGS, *STAYS)) as brokers:
            with brokers.connect() as client:
                assert client.create_topic(TOPIC, replicas=[[2]]) == 0
            brokers.wait_for_topic(TOPIC, 1)
            yield CutOff(brokers, relays)
    finally:
        for relay in relays.values():
            relay.close()


def test_producers_go_on_at_the_next_leader_after_their_timeout(cluster: CutOff) -> None:
    brokers = cluster.brokers
    cluster.relays[2].hold()
    with brokers[2].connect() as client:
        body = produce_body(TOPIC, 0, batch([b"lost"]), timeout_ms=TIMEOUT_MS)
        client.send(PRODUCE, 7, body)
        assert read_produced(client.receive()[1]).error == NOT_LEADER_OR_FOLLOWER
    wait_until(lambda: brokers.seen_by(1, TOPIC).leaders(TOPIC) == [1])
    sender = producer(brokers[2].bootstrap, request_timeout_ms=TIMEOUT_MS)
    deliver(sender, TOPIC, b"kept")
    assert read_values(brokers[1].bootstrap, TOPIC, 1) == [b"kept"]


def test_clients_are_sent_to_the_next_coordinator_and_leader(cluster: CutOff) -> None:
    """With timeouts of a minute: they wait for none of them."""
    brokers = cluster.brokers
    settings = {"group.id": "readers", "auto.offset.reset": "earliest", **PATIENT}
    with closing(Consumer({"bootstrap.servers": brokers.bootstrap, **settings})) as member:
        sender = Producer({"bootstrap.servers": brokers.bootstrap, **PATIENT, **TRANSACTIONAL})
        sender.init_transactions()
        member.subscribe([TOPIC])
        for value in (b"before", b"after"):
            sender.begin_transaction()
            sender.produce(TOPIC, value)
            sender.commit_transaction()
            wait_until(lambda value=value: (found := member.poll(0.1)) and found.value() == value)
            assert member.commit(asynchronous=False)
            if value == b"before":
                cluster.relays[1].hold()
        wait_until(lambda: '"event":"lease_over"' in brokers[1].log())
        assert brokers.seen_by(1, TOPIC).leaders(TOPIC) == [2]
        assert 1 not in brokers.seen_by(1, OFFSETS).leaders(OFFSETS)
        found = Ottla(brokers[1].bootstrap).run("doctor", code=1).out
        assert "problem  broker 1 is fenced: it is not alive, or cut off from the cluster" in found
