"""A broker that is silent while its row is locked: others fence it, and go on meanwhile."""

from __future__ import annotations

import psycopg
import pytest

from tests.contract.joined_brokers import SESSION_MS, JoinedBroker, JoinedBrokers

LOCKED = "select from ottla_fences where node_id = 1 for update"


@pytest.fixture
def other(cluster: JoinedBrokers) -> JoinedBroker:
    """Of broker 1, which is behind the relay."""
    first, second = cluster.join(1, through_relay=True), cluster.join(2)
    for broker in (first, second):
        broker.announce()
    second.run_until(lambda: second.brokers() == [(1, False), (2, False)])
    return second


def silence_first(cluster: JoinedBrokers) -> None:
    cluster.relay.refuse()
    cluster.relay.cut()


def test_a_locked_row_stops_no_other_broker(cluster: JoinedBrokers, other: JoinedBroker) -> None:
    """The one that is silent is fenced when its row is free."""
    with cluster.connected() as holding:
        holding.execute(LOCKED)
        silence_first(cluster)
        cluster.run_until_over(1)
        lease = "select until from ottla_brokers where node_id = 2"
        [(before,)] = cluster.execute(lease)
        longer = f"{lease} and until > '{before}'::timestamptz + {SESSION_MS} * interval '1 ms'"
        other.run_until(lambda: cluster.execute(longer))
        assert other.brokers() == [(1, False), (2, False)]
        holding.rollback()
    other.run_until(lambda: (1, True) in other.brokers())
    assert (2, False) in other.brokers()


def test_what_a_silent_broker_has_locked_is_ended(
    cluster: JoinedBrokers, other: JoinedBroker
) -> None:
    """The server keeps its locks for as long as it has its connection."""
    [(client,)] = cluster.execute("select client from ottla_brokers where node_id = 1")
    holding = cluster.connected()
    holding.execute("select set_config('application_name', %s, false)", (client,))
    holding.execute(LOCKED)
    silence_first(cluster)
    other.run_until(lambda: (1, True) in other.brokers())
    with pytest.raises(psycopg.OperationalError):
        holding.execute("select 1")
    holding.close()
