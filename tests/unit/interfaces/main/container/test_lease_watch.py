from __future__ import annotations

import pytest

from interfaces.main.container.lease_watch import AFTER_MS, CHECK_MS, LeaseWatch
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic

NOT_LEADER = "NotLeaderOrFollower"


class Watched:
    def __init__(self) -> None:
        self.fake = with_topic()
        self.fake.events.lines.clear()
        self.sent_away = 0
        LeaseWatch(self.fake.broker, self.fake.events, self._send_away).start()

    def _send_away(self) -> None:
        self.sent_away += 1

    def pass_by(self, ms: int) -> None:
        for _ in range(ms // CHECK_MS):
            self.fake.scheduler.advance(CHECK_MS)

    def outcome(self) -> str:
        """Of a batch."""
        [partition] = [self.fake.partition()]
        found = self.fake.broker.messages.produce.append(
            partition, memoryview(record_batch(["a"])), True
        )
        return type(found).__name__


@pytest.fixture
def watched() -> Watched:
    return Watched()


def events(fake: FakeBroker) -> list[str]:
    return [event for _, event, _ in fake.events.lines]


def test_clients_are_sent_away_once_when_the_lease_has_been_over_for_a_while(
    watched: Watched,
) -> None:
    watched.fake.placement.has_lease = False
    watched.pass_by(AFTER_MS - CHECK_MS)
    assert (watched.sent_away, events(watched.fake)) == (0, [])
    watched.pass_by(3 * AFTER_MS)
    assert (watched.sent_away, events(watched.fake)) == (1, ["lease_over"])
    watched.fake.placement.has_lease = True
    watched.pass_by(CHECK_MS)
    assert events(watched.fake) == ["lease_over", "lease_renewed"]
    watched.fake.placement.has_lease = False
    watched.pass_by(AFTER_MS)
    assert watched.sent_away == 2


def test_a_lease_that_is_over_for_a_moment_changes_nothing(watched: Watched) -> None:
    for _ in range(3):
        watched.fake.placement.has_lease = False
        watched.pass_by(AFTER_MS - CHECK_MS)
        watched.fake.placement.has_lease = True
        watched.pass_by(CHECK_MS)
    assert (watched.sent_away, events(watched.fake)) == (0, [])


def test_batches_are_refused_from_the_first_look_on(watched: Watched) -> None:
    watched.fake.placement.has_lease = False
    assert watched.outcome() == "Appended"
    watched.pass_by(CHECK_MS)
    assert watched.outcome() == NOT_LEADER
    watched.fake.placement.has_lease = True
    assert watched.outcome() == "Appended"


def test_batches_are_refused_again_after_a_lease_that_no_look_has_seen(watched: Watched) -> None:
    watched.fake.placement.has_lease = False
    watched.pass_by(CHECK_MS)
    watched.fake.placement.has_lease = True
    assert watched.outcome() == "Appended"
    watched.fake.placement.has_lease = False
    watched.pass_by(CHECK_MS)
    assert watched.outcome() == NOT_LEADER


def test_sessions_of_members_start_again_when_the_lease_is_back(watched: Watched) -> None:
    coordinator = watched.fake.broker.groups.coordinator
    watched.fake.placement.has_lease = False
    watched.pass_by(CHECK_MS)
    assert coordinator._is_held
    watched.fake.placement.has_lease = True
    watched.pass_by(CHECK_MS)
    assert not coordinator._is_held
