"""A leader that does not reach PostgreSQL any more: its clients find the next one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import wait_until
from tests.e2e.cluster.brokers import Brokers, new_schema, store_of
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
TIMEOUT_MS = 500


@pytest.fixture
def cut_off(tmp_path: Path) -> Iterator[Brokers]:
    """Broker 2 leads the topic, and its messages and those of PostgreSQL do not arrive."""
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    server, schema = running_postgres(), new_schema()
    relay = PostgresRelay(server.folder)
    stores = {1: store_of(server.folder, schema), 2: store_of(relay.folder, schema)}
    try:
        with Brokers(tmp_path, stores) as brokers:
            with brokers.connect() as client:
                assert client.create_topic(TOPIC, replicas=[[2]]) == 0
            brokers.wait_for_topic(TOPIC, 1)
            relay.hold()
            yield brokers
    finally:
        relay.close()


def test_producers_go_on_at_the_next_leader_after_their_timeout(cut_off: Brokers) -> None:
    with cut_off[2].connect() as client:
        body = produce_body(TOPIC, 0, batch([b"lost"]), timeout_ms=TIMEOUT_MS)
        client.send(PRODUCE, 7, body)
        assert read_produced(client.receive()[1]).error == NOT_LEADER_OR_FOLLOWER
    wait_until(lambda: cut_off.seen_by(1, TOPIC).leaders(TOPIC) == [1])
    sender = producer(cut_off[2].bootstrap, request_timeout_ms=TIMEOUT_MS)
    deliver(sender, TOPIC, b"kept")
    assert read_values(cut_off[1].bootstrap, TOPIC, 1) == [b"kept"]
