from __future__ import annotations

import pytest

from application.state.catalog import Catalog
from domain.cluster.registration import PartitionRegistration
from domain.errors import StorageFailed
from infrastructure.storage.postgresql.lost_commits import LostCommits
from tests.fakes.shared_commit import SharedCommit
from tests.fakes.shared_store import SharedStore
from tests.simulation.seeds import SeedFailed, run_worlds

WORLD = "several_brokers"


def test_every_acknowledged_record_is_in_one_log_and_each_epoch_has_one_leader() -> None:
    happened = run_worlds(WORLD, range(60))
    assert happened["acknowledged records"] > 1000 and happened["records of failed commits"] > 50
    often = (
        "brokers that stop",
        "brokers that are fenced",
        "requests to move leaders",
        "leader epochs",
        "promotions of a standby that lacks commits",
        "commits whose outcome is not known",
        "brokers that go on with it",
        "brokers that start again",
    )
    assert min(happened[each] for each in often) > 50
    assert happened["commits that are repeated"] > 20


def test_a_broker_that_joined_after_the_standby_was_a_copy_starts_again() -> None:
    store = SharedStore()
    store.start(1)
    past = store.past()
    store.start(2)
    store.return_to(past, first_epoch=1000)
    store.run()
    assert store.over == [2]


def forgetful(self: SharedCommit, failure: StorageFailed | None) -> None:
    """The client is told that it failed, and the broker gives the offsets again."""
    if self._is_persisted:
        self._is_persisted, failure = False, StorageFailed("the connection is lost")
    finish(self, failure)


finish = SharedCommit._finish

RECORDS = "two records at|another batch at|acknowledged record"
#: And how each is found.
KINDS = {
    "the store does not fence": RECORDS,
    "a leader does not drop its state": RECORDS,
    "a start does not raise the epoch": "in the lost|of an earlier timeline",
    "a commit whose response is lost counts as failed": f"leaders of|coordinators|{RECORDS}",
    "lost commits are not repeated": RECORDS,
    "commits are repeated although others lack their changes": RECORDS,
}
FAULTS = tuple(KINDS)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == FAULTS[0]:
        monkeypatch.setattr(SharedCommit, "_session_has_ended", lambda self: False)
    elif fault == FAULTS[1]:
        monkeypatch.setattr(Catalog, "_leaders_changed", lambda self, partition_ids: None)
    elif fault == FAULTS[2]:
        monkeypatch.setattr(PartitionRegistration, "raised", lambda self: self)
    elif fault == FAULTS[3]:
        monkeypatch.setattr(SharedCommit, "_finish", forgetful)
    elif fault == FAULTS[4]:
        monkeypatch.setattr(LostCommits, "repeat", lambda self, connection, fence, newest: "")
    else:
        monkeypatch.setattr(LostCommits, "lacks_shared", lambda self, connection: False)
        monkeypatch.setattr(LostCommits, "_is_own", lambda self, connection, lost: True)
    with pytest.raises(SeedFailed, match=f"Violation: .*({KINDS[fault]})"):
        run_worlds(WORLD, range(100))
