from __future__ import annotations

from application.partitions.init_producer_id import BLOCK_SIZE
from application.ports.pending import Pending
from domain.errors import StorageFailed
from tests.fakes.broker import FakeBroker

Outcomes = list[int | StorageFailed]


def request_id(fake: FakeBroker, outcomes: Outcomes) -> None:
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
