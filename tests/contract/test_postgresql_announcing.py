"""What brokers over one store know of each other's announcements, whatever becomes of these."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain.cluster.nodes import BrokerRegistration
from infrastructure.storage.postgresql import leases
from infrastructure.storage.postgresql.server import Rows
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.past import Past

FENCED = "select is_fenced from ottla_brokers where node_id = 1"
REGISTRATION = "select registration from ottla_brokers where node_id = 1"
BLOCKED = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = {}"


@pytest.fixture
def cluster(patient: JoinedBrokers) -> JoinedBrokers:
    return patient


def announced(cluster: JoinedBrokers) -> JoinedBroker:
    broker = cluster.join(1, through_relay=True)
    past = Past(cluster)
    broker.announce()
    broker.run_until(lambda: broker.brokers() == [(1, False)])
    past.return_to()
    return broker


def test_an_announcement_that_was_lost_is_repeated(cluster: JoinedBrokers) -> None:
    """An asynchronous standby was promoted."""
    broker = announced(cluster)
    cluster.run_until(lambda: cluster.execute(FENCED) == [(False,)])
    broker.run_until(lambda: broker.brokers() == [(1, False)])
    assert broker.fenced == 0


def test_an_announcement_of_a_former_session_is_repeated(
    cluster: JoinedBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection of commits has taken another one meanwhile."""
    announce = leases.announce

    def late(connection: Rows, broker: BrokerRegistration, numbers: Sequence[int]) -> bool:
        monkeypatch.setattr(leases, "announce", announce)
        return announce(connection, broker, [number + 1 for number in numbers])

    monkeypatch.setattr(leases, "announce", late)
    broker = cluster.join(1)
    broker.announce()
    broker.run_until(lambda: broker.brokers() == [(1, False)])


def test_a_broker_whose_session_is_being_ended_stays_fenced(cluster: JoinedBrokers) -> None:
    """It announces itself again meanwhile."""
    broker = cluster.join(1)
    broker.announce()
    broker.run_until(lambda: broker.brokers() == [(1, False)])
    assert broker.storage.membership is not None
    [known] = broker.storage.membership.brokers()
    with (
        cluster.connected() as fencing,
        cluster.connected() as announcing,
        ThreadPoolExecutor(1) as thread,
    ):
        announcing.autocommit = True
        [lease] = leases.leases(fencing)[1]
        fencing.execute("update ottla_fences set session = 0 where node_id = 1")
        fencing.execute("update ottla_brokers set is_fenced = true where node_id = 1")
        done = thread.submit(leases.announce, announcing, known, [lease.session])
        blocked = BLOCKED.format(announcing.info.backend_pid)
        cluster.run_until(lambda: cluster.execute(blocked))
        fencing.commit()
        cluster.run_until(done.done)
    assert cluster.execute(FENCED) == [(True,)]


def test_a_broker_that_others_have_fenced_stays_fenced(cluster: JoinedBrokers) -> None:
    """It announces itself with its new connection, before it learns of that."""
    broker = cluster.join(1, through_relay=True)
    broker.announce()
    broker.run_until(lambda: broker.brokers() == [(1, False)])
    cluster.relay.refuse()
    cluster.relay.cut()
    cluster.execute(
        "update ottla_fences set session = 0 where node_id = 1",
        "update ottla_brokers set is_fenced = true where node_id = 1",
    )
    cluster.relay.accept()
    broker.run_until(lambda: broker.fenced)
    assert cluster.execute(FENCED) == [(True,)]


def test_others_learn_that_a_broker_is_about_to_stop(cluster: JoinedBrokers) -> None:
    """Until it is back."""

    def states(broker: JoinedBroker) -> list[tuple[bool, bool]]:
        assert broker.storage.membership is not None
        return [(one.is_fenced, one.is_stopping) for one in broker.storage.membership.brokers()]

    def hosts(broker: JoinedBroker) -> list[str]:
        assert broker.storage.membership is not None
        nodes = [one.node for one in broker.storage.membership.brokers()]
        return [node.addresses["PLAINTEXT"][0] for node in nodes]

    first, second = cluster.join(1), cluster.join(2)
    for broker in (first, second):
        broker.announce()
    assert second.storage.membership is not None
    first.run_until(lambda: states(first) == [(False, False)] * 2)
    second.storage.membership.announce_stop()
    first.run_until(lambda: states(first) == [(False, False), (False, True)])
    second.announce("other")  # an address may be altered meanwhile
    first.run_until(lambda: hosts(first) == ["h", "other"])
    assert states(first) == [(False, False), (False, True)]
    second.close()
    first.run_until(lambda: states(first) == [(False, False), (True, True)])
    cluster.join(2).announce()
    first.run_until(lambda: states(first) == [(False, False)] * 2)
