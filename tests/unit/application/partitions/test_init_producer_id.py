from __future__ import annotations

from application.partitions.init_producer_id import BLOCK_SIZE
from application.ports.pending import Pending
from domain.errors import StorageFailed
from tests.fakes.broker import FakeBroker

Given = list[int | StorageFailed]


def ask(fake: FakeBroker, given: Given) -> None:
    producer_id = fake.broker.messages.init_producer_id.new_producer_id()
    if isinstance(producer_id, Pending):
        producer_id.then(given.append)
    else:
        given.append(producer_id)


def test_the_first_id_waits_for_a_block_to_be_durable() -> None:
    fake, given = FakeBroker(), Given()
    fake.commit.hold()
    ask(fake, given)
    fake.run()
    ask(fake, given)
    assert given == []
    fake.commit.let_go()
    assert given == [0, 1]


def test_ids_of_a_block_need_no_commit() -> None:
    fake, given = FakeBroker(), Given()
    ask(fake, given)
    fake.run()
    commits = fake.commit.count
    for _ in range(BLOCK_SIZE - 1):
        ask(fake, given)
    assert fake.commit.count == commits
    assert given == list(range(BLOCK_SIZE))
    ask(fake, given)
    fake.run()
    assert fake.commit.count == commits + 1
    assert given[-1] == BLOCK_SIZE


def test_more_than_a_block_may_wait_at_once() -> None:
    fake, given = FakeBroker(), Given()
    for _ in range(2 * BLOCK_SIZE + 5):
        ask(fake, given)
    fake.run()
    assert given == list(range(2 * BLOCK_SIZE + 5))


def test_a_failed_commit_gives_no_id_and_the_next_one_does() -> None:
    fake, given = FakeBroker(), Given()
    fake.commit.fail_next("no space left")
    ask(fake, given)
    ask(fake, given)
    fake.run()
    assert [str(one) for one in given] == ["no space left", "no space left"]
    given.clear()
    ask(fake, given)
    fake.run()
    assert given == [0]


def test_after_a_restart_no_id_is_given_again() -> None:
    fake, given = FakeBroker(), Given()
    for _ in range(3):
        ask(fake, given)
    fake.run()
    again = fake.restarted()
    ask(again, given)
    again.run()
    assert given == [0, 1, 2, BLOCK_SIZE]
