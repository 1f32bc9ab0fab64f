from __future__ import annotations

import pytest

from application.state.coordinators import Coordinators
from application.transactions.requested_markers import RequestedMarkers
from infrastructure.storage.postgresql.lost_commits import LostCommits
from tests.crash.cluster import broken
from tests.simulation.seeds import SeedFailed, run_worlds

WORLD = "cluster_transactions"


def test_each_transaction_ends_in_one_way_in_all_its_partitions() -> None:
    happened = run_worlds(WORLD, range(12))
    assert min(happened[f"{one} transactions"] for one in ("committed", "aborted")) > 50
    often = (
        "brokers that stop",
        "brokers that are fenced",
        "requests to move leaders",
        "promotions of a standby that lacks commits",
        "commits whose outcome is not known",
        "commits that are repeated",
    )
    assert min(happened[each] for each in often) > 20


def follow_epochs(coordinators: Coordinators) -> None:
    before, after = coordinators._led, coordinators._led_now()
    if before == after:
        return
    moved = before.leaders.items() ^ after.leaders.items()
    coordinators._led = after
    for calls, led in ((coordinators._lost, before), (coordinators._gained, after)):
        for call in calls:
            call(lambda key, led=led: any(led.partition_id(key) == one for one, _ in moved))


#: And how each is found.
KINDS = {
    "a leader removes a request without its marker": "still pending|open transactions|ended as",
    "a coordinator does not wait": "ended as|open transactions|too many markers",
    "a coordinator loads again in a new leader epoch": "markers|open transactions|Request: .4[789]",
    "lost commits are not repeated": "Request: .4[789]|two records|another batch",
}
FAULTS = tuple(KINDS)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == FAULTS[0]:
        monkeypatch.setattr(RequestedMarkers, "_end", lambda self, one: None)
    elif fault == FAULTS[2]:
        # All that is led here is lost, and gained, with each epoch.
        monkeypatch.setattr(Coordinators, "_follow", follow_epochs)
    elif fault == FAULTS[3]:
        monkeypatch.setattr(LostCommits, "repeat", lambda self, connection, fence, newest: "")
    else:
        monkeypatch.setattr(broken, "patch", monkeypatch.setattr)
        broken.completes_transactions_at_once()
    with pytest.raises(SeedFailed, match=f"Violation: .*({KINDS[fault]})"):
        run_worlds(WORLD, range(16))
