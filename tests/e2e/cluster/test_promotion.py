"""A standby is promoted that lacks what brokers share: a consumer notices that a log was cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.postgres_server import postgres_with_standby
from tests.e2e.cluster.brokers import Brokers, new_schema, store_of
from tests.e2e.conftest import EXTERNAL
from tests.e2e.librdkafka import (
    assigned_consumer,
    deliver,
    next_error_of_log,
    next_message,
    producer,
    read_values,
)
from tests.fakes.postgres import Postgres
from tests.fakes.postgres_relay import PostgresRelay

TOPIC = "cut"


@pytest.fixture
def primary() -> Iterator[Postgres]:
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    with postgres_with_standby() as server:
        yield server


@pytest.mark.long
def test_a_consumer_notices_that_a_promoted_standby_lacks_records(
    tmp_path: Path, primary: Postgres
) -> None:
    schema = new_schema()
    relays = [PostgresRelay(primary.folder) for _ in range(2)]
    stores = {one: store_of(relay.folder, schema) for one, relay in enumerate(relays, 1)}
    promoted = None
    try:
        with Brokers(tmp_path, stores) as brokers:
            with brokers.connect() as client:
                assert client.create_topic(TOPIC, replicas=[[2]]) == 0
            brokers.wait_for_topic(TOPIC, 1)
            deliver(producer(brokers.bootstrap), TOPIC, b"0", b"1")
            primary.commit_alone()
            primary.cut_off_standby()
            with brokers.connect() as client:
                assert client.create_topic("lost", replicas=[[2]]) == 0
            deliver(producer(brokers.bootstrap), TOPIC, b"lost", b"lost too")
            with assigned_consumer(brokers.bootstrap, TOPIC) as consumer:
                read = [next_message(consumer).value() for _ in range(4)]
                assert read == [b"0", b"1", b"lost", b"lost too"]
                promoted = primary.promoted()
                for relay in relays:
                    relay.lead_to(promoted.folder)
                deliver(producer(brokers.bootstrap), TOPIC, b"2", b"3", b"4")
                error = next_error_of_log(consumer)
            assert "log truncation detected at offset 4" in error.str()
            assert "end offset is 2" in error.str()
            expected = [b"0", b"1", b"2", b"3", b"4"]
            assert read_values(brokers.bootstrap, TOPIC, len(expected)) == expected
    finally:
        for relay in relays:
            relay.close()
        if promoted is not None:
            promoted.remove()
