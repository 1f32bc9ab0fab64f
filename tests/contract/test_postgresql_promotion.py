"""Leader epochs after an asynchronous standby was promoted, which lacks changes of leaders."""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.postgresql import opening
from infrastructure.storage.repositories.leader_rows import LEADERS
from tests.contract.joined_brokers import LONG_SESSION_MS, JoinedBroker, JoinedBrokers
from tests.contract.postgres_server import postgres_with_standby, running_postgres

P = 7
#: Of the second timeline.
FIRST = 65_536


class Promoting(JoinedBrokers):
    """Its standby has what was committed up to `fall_behind`."""

    def fall_behind(self) -> None:
        self.server.commit_alone()
        self.server.cut_off_standby()

    def promote(self) -> None:
        self.relay.refuse()
        self.relay.cut()
        self.server = self.server.promoted()
        self.relay.lead_to(self.server.folder)
        self.relay.accept()


@pytest.fixture
def cluster() -> Iterator[Promoting]:
    with postgres_with_standby() as server:
        cluster = Promoting(server, session_ms=LONG_SESSION_MS)
        try:
            yield cluster
        finally:
            cluster.close()
            cluster.server.remove()


def leading(cluster: JoinedBrokers) -> JoinedBroker:
    broker = cluster.join(1, through_relay=True)
    broker.lead(P, 1)
    broker.append(P, 0)
    assert broker.commit() is None
    return broker


def first_epoch(broker: JoinedBroker) -> int:
    """With the right to change leaders."""
    changes = broker.storage.cluster_changes
    assert changes is not None
    broker.patiently(changes.check)
    return changes.first_epoch


def epoch_of(broker: JoinedBroker) -> int:
    row = broker.storage.state.get(LEADERS, P.to_bytes(4, "big"))
    assert row is not None
    _, epoch = unpack_from(">ii", row)
    return int(epoch)


def test_the_next_epochs_are_above_all_that_were_lost(cluster: Promoting) -> None:
    broker = leading(cluster)
    assert first_epoch(broker) == 0
    cluster.fall_behind()
    broker.lead(P, 1, epoch=5)
    assert broker.commit() is None
    broker.close()
    cluster.promote()
    cluster.execute("update ottla_fences set session = 0")  # lost, too
    again = cluster.join(2)
    assert first_epoch(again) == FIRST
    assert again.storage.cluster_changes is not None
    assert again.storage.cluster_changes.losses == 1
    again.close()
    place = f"postgres@/postgres?host={cluster.server.folder}&schema={cluster.schema}"
    for starts in range(2):
        alone = opening.opened(place, "commit", None)
        assert alone.info.losses == FIRST + starts
        alone.commit.close()


def test_a_broker_that_goes_on_leads_in_its_epoch_and_changes_leaders_in_new_ones(
    cluster: Promoting,
) -> None:
    broker = leading(cluster)
    changes, promotions = broker.storage.cluster_changes, []
    assert changes is not None
    changes.on_promoted(lambda: promotions.append(1))
    cluster.fall_behind()
    broker.append(P, 1)
    assert broker.commit() is None
    cluster.promote()
    broker.run_until(lambda: bool(promotions))
    assert broker.storage.repeated_commits is not None
    repeated = broker.storage.repeated_commits
    broker.run_until(lambda: repeated() == 1)
    assert broker.last_offsets(P) == [0, 1]
    assert epoch_of(broker) == 1
    broker.run_until(lambda: first_epoch(broker) == FIRST)
    broker.lead(P, 1, epoch=FIRST)
    assert broker.commit() is None
    assert broker.fenced == 0


def test_a_change_that_was_decided_before_is_not_committed(cluster: Promoting) -> None:
    """It may have an epoch that others have used, which are lost."""
    broker = leading(cluster)
    cluster.fall_behind()
    broker.lead(P, 1, epoch=2)
    cluster.promote()
    assert isinstance(broker.commit(), StorageFailed)
    assert epoch_of(broker) == 1
    broker.run_until(lambda: first_epoch(broker) == FIRST)
    broker.lead(P, 1, epoch=FIRST)
    assert broker.commit() is None
    assert broker.fenced == 0


def test_a_server_that_does_not_say_its_timeline_has_a_store() -> None:
    role, function = "without_timeline", "execute on function pg_walfile_name(pg_lsn)"
    cluster = JoinedBrokers(running_postgres(), user=role)
    cluster.server.execute(
        f"create role {role} login",
        f"create schema {cluster.schema} authorization {role}",
        f"revoke {function} from public",
    )
    try:
        broker = cluster.join(1)
        assert first_epoch(broker) == 0
        broker.lead(P, 1)
        assert broker.commit() is None
    finally:
        cluster.close()
        cluster.server.execute(f"grant {function} to public")
