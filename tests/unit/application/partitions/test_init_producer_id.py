from __future__ import annotations

from dataclasses import replace

import pytest

from application.partitions.init_producer_id import BLOCK_SIZE
from application.ports.pending import Pending
from domain.errors import StorageFailed
from infrastructure.storage.engine import Storage
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from tests.fakes.broker import FakeBroker, InProcessBroker
from tests.fakes.following_brokers import FollowingBrokers

Outcomes = list[int | StorageFailed]


def request_id(fake: InProcessBroker, outcomes: Outcomes) -> None:
    producer_id = fake.broker.messages.init_producer_id.new_producer_id()
    if isinstance(producer_id, Pending):
        producer_id.then(outcomes.append)
    else:
        outcomes.append(producer_id)


def test_the_first_producer_id_waits_for_the_commit_of_its_block() -> None:
    fake, outcomes = FakeBroker(), Outcomes()
    fake.commit.hold()
    request_id(fake, outcomes)
    fake.run()
    request_id(fake, outcomes)
    assert outcomes == []
    fake.commit.let_go()
    assert outcomes == [0, 1]


def test_ids_of_a_block_need_no_commit() -> None:
    fake, outcomes = FakeBroker(), Outcomes()
    request_id(fake, outcomes)
    fake.run()
    commits = fake.commit.count
    for _ in range(BLOCK_SIZE - 1):
        request_id(fake, outcomes)
    assert fake.commit.count == commits
    assert outcomes == list(range(BLOCK_SIZE))
    request_id(fake, outcomes)
    fake.run()
    assert fake.commit.count == commits + 1
    assert outcomes[-1] == BLOCK_SIZE


def test_more_requests_than_a_block_can_wait() -> None:
    fake, outcomes = FakeBroker(), Outcomes()
    for _ in range(2 * BLOCK_SIZE + 5):
        request_id(fake, outcomes)
    fake.run()
    assert outcomes == list(range(2 * BLOCK_SIZE + 5))


def test_a_failed_commit_fails_pending_requests_only() -> None:
    fake, outcomes = FakeBroker(), Outcomes()
    fake.commit.fail_next("no space left")
    request_id(fake, outcomes)
    request_id(fake, outcomes)
    fake.run()
    assert [str(one) for one in outcomes] == ["no space left", "no space left"]
    outcomes.clear()
    request_id(fake, outcomes)
    fake.run()
    assert outcomes == [0]


def test_no_producer_id_is_used_again_after_a_restart() -> None:
    fake, outcomes = FakeBroker(), Outcomes()
    for _ in range(3):
        request_id(fake, outcomes)
    fake.run()
    again = fake.restarted()
    request_id(again, outcomes)
    again.run()
    assert outcomes == [0, 1, 2, BLOCK_SIZE]


@pytest.mark.parametrize("losses, first", [(0, BLOCK_SIZE), (1, 1 << 32), (1 << 31, 1 << 52)])
def test_after_a_loss_ids_are_above_all_that_were_given_before(losses: int, first: int) -> None:
    """The store lacks the newest blocks: their producers go on."""
    two, outcomes = FollowingBrokers(), Outcomes()
    request_id(two.first, outcomes)
    two.run()
    two.second.changes.losses = losses
    for _ in range(BLOCK_SIZE + 1):
        request_id(two.second, outcomes)
        two.run()
    assert outcomes == [0, *range(first, first + BLOCK_SIZE + 1)]


class Restored(InProcessBroker):
    """After a power cut that may have lost what was acknowledged."""

    def _storage(self, url: str, flush: str) -> Storage:
        storage = super()._storage(url, flush)
        return replace(storage, info=storage.info._replace(losses=1))


def test_after_a_power_cut_ids_are_above_all_that_were_given_before() -> None:
    restored, outcomes = Restored(), Outcomes()
    request_id(restored, outcomes)
    restored.run()
    assert outcomes == [1 << 32]
    restored.close()


def test_two_brokers_take_their_blocks_in_turn() -> None:
    two, outcomes = FollowingBrokers(), Outcomes()
    for broker in (two.first, two.second):
        request_id(broker, outcomes)
        two.run()
    for _ in range(BLOCK_SIZE):
        request_id(two.first, outcomes)
    two.run()
    assert outcomes[:2] == [0, BLOCK_SIZE]
    assert outcomes[2:] == [*range(1, BLOCK_SIZE), 2 * BLOCK_SIZE]


def test_only_a_new_block_waits_for_the_right() -> None:
    fake, outcomes = FakeBroker(), Outcomes()
    request_id(fake, outcomes)
    fake.run()
    fake.changes.withhold()
    for _ in range(BLOCK_SIZE + 1):
        request_id(fake, outcomes)
    fake.run()
    assert (outcomes, fake.changes.waiting) == (list(range(BLOCK_SIZE)), 1)
    fake.changes.give()
    fake.run()
    assert outcomes == list(range(BLOCK_SIZE + 2))


def test_a_row_that_cannot_be_read_fails_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, outcomes = FakeBroker(), Outcomes()

    def fails(*_: object) -> int:
        raise StorageFailed("cannot read")

    with monkeypatch.context() as patch:
        patch.setattr(StoredClusterRepository, "next_producer_id", fails)
        request_id(fake, outcomes)
    assert [str(one) for one in outcomes] == ["cannot read"]
    request_id(fake, outcomes)
    fake.run()
    assert outcomes[1:] == [0]
