"""Several brokers over one store: how partitions change their leader."""

from __future__ import annotations

from collections import Counter

import pytest

from application.cluster import leadership
from domain.errors import NotLeaderOrFollower, OutOfOrderSequence, StorageFailed
from domain.partitions.appended import Appended
from tests.fakes.batches import record_batch
from tests.fakes.shared_store import SharedBroker, SharedStore


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id)
    return shared


def leaders(shared: SharedStore, name: str = "t") -> list[tuple[int, int]]:
    """Of each partition of the topic, as all living brokers see them."""
    seen = [
        [broker.leader(each) for each in broker.existing(name).partition_ids]
        for broker in shared.brokers.values()
    ]
    assert all(one == seen[0] for one in seen), seen
    return seen[0]


def ask(shared: SharedStore, partition_id: int, *target: int) -> None:
    """Any broker may ask for a move."""
    broker = shared.brokers[3]
    broker.changes.check()
    assert broker.core.registrations is not None
    one = broker.core.registrations.find(partition_id)
    assert one is not None
    broker.core.registrations.save([(partition_id, one._replace(target=target))])


def log_of(broker: SharedBroker, index: int = 0) -> list[tuple[int, int]]:
    """Base offset and leader epoch of each batch."""
    partition_id = broker.existing().partition_ids[index]
    found = []
    headers = broker.log.headers(partition_id, 0, 1000)
    for header in headers:
        found.append((int.from_bytes(header[:8], "big"), int.from_bytes(header[12:16], "big")))
    return found


def test_each_broker_leads_what_was_placed_on_it(shared: SharedStore) -> None:
    shared.topic("t", 6)
    assert [leader for leader, _ in leaders(shared)] == [1, 2, 3] * 2
    shared.brokers[2].appended(record_batch(["a"]), index=1)
    with pytest.raises(NotLeaderOrFollower) as refused:
        shared.brokers[1].partition(index=1)
    assert refused.value.leader == (2, 0)


def test_a_restarted_broker_leads_in_a_new_epoch(shared: SharedStore) -> None:
    shared.topic("t", 3)
    shared.brokers[2].appended(record_batch(["a"]), index=1)
    shared.kill(2)
    shared.run()
    assert leaders(shared)[1] == (2, 0)
    again = shared.start(2)
    assert leaders(shared) == [(1, 0), (2, 1), (3, 0)]
    again.appended(record_batch(["b"]), index=1)
    assert log_of(again, 1) == [(0, 0), (1, 1)]


def test_a_broker_that_goes_on_after_a_promotion_leads_in_a_new_epoch(shared: SharedStore) -> None:
    shared.topic("t", 3)
    broker = shared.brokers[2]
    broker.appended(record_batch(["a"]), index=1)
    broker.changes.promoted(1000, losses=1)
    broker.appended(record_batch(["b"]), index=1)
    shared.run()
    assert leaders(shared) == [(1, 0), (2, 1000), (3, 0)]
    broker.appended(record_batch(["c"]), index=1)
    assert log_of(broker, 1) == [(0, 0), (1, 0), (2, 1000)]
    assert broker.partition(index=1).epoch_end(999) == (0, 2)


def test_after_a_failed_commit_it_raises_the_epochs_again(shared: SharedStore) -> None:
    shared.topic("t", 3)
    broker = shared.brokers[2]
    broker.commit.fail_next()
    broker.changes.promoted(1000, losses=1)
    shared.run()
    assert leaders(shared) == [(1, 0), (2, 0), (3, 0)]
    shared.advance(2000, step_ms=50)
    assert leaders(shared) == [(1, 0), (2, 1000), (3, 0)]


def test_a_promotion_while_it_raises_the_epochs_raises_them_again(shared: SharedStore) -> None:
    """The commit is in the next timeline, too, which may lack what others did after it."""
    shared.topic("t", 3)
    broker = shared.brokers[2]
    broker.commit.hold()
    broker.changes.promoted(1000, losses=1)
    shared.run()
    assert broker.commit.under_way
    broker.changes.promoted(2000, losses=2)
    broker.commit.let_go()
    shared.run()
    assert leaders(shared) == [(1, 0), (2, 2000), (3, 0)]


def test_a_promotion_while_it_begins_raises_the_epochs_again(shared: SharedStore) -> None:
    shared.topic("t", 3)
    shared.brokers[2].commit.hold()
    shared.members.late.add(1)
    shared.members.fence(2)
    shared.members.come_back(2)
    shared.run()
    broker = shared.brokers[2]
    assert broker.commit.under_way and not broker.core.placement.has_begun
    broker.changes.promoted(2000, losses=2)
    broker.commit.let_go()
    shared.run()
    assert leaders(shared)[1] == (2, 2000)


def test_it_leads_nothing_before_the_epochs_are_durable(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    shared.kill(2)
    again = SharedBroker(shared, 2)
    begun: list[None] = []
    again.commit.hold()
    again.broker.begin().then(begun.append)
    again.scheduler.advance(20)
    assert again.leader(topic.partition_ids[1]) == (-1, -1)
    assert begun == []
    again.commit.let_go()
    again.scheduler.advance(20)
    assert begun == [None]
    assert again.leader(topic.partition_ids[1]) == (2, 1)


def test_epochs_are_raised_in_few_commits_and_again_if_one_fails(
    shared: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leadership, "PARTITIONS_PER_COMMIT", 2)
    shared.topic("t", 9)
    shared.kill(2)
    again = SharedBroker(shared, 2)
    before = again.commit.count
    again.commit.fail_next()
    again.broker.begin()
    shared.advance(2000)
    assert again.commit.count - before == 3
    assert [each for each in leaders(shared) if each[0] == 2] == [(2, 1)] * 3


def test_a_target_moves_the_leader_with_all_its_records(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    one, two = shared.brokers[1], shared.brokers[2]
    one.appended(record_batch(["a"]))
    ask(shared, topic.partition_ids[0], 2)
    shared.run()
    assert leaders(shared)[0] == (2, 1)
    with pytest.raises(NotLeaderOrFollower):
        one.partition()
    two.appended(record_batch(["b"]))
    assert log_of(two) == [(0, 0), (1, 1)]
    assert two.partition().leader_epochs.end_of(0, 2).end_offset == 1


def test_records_of_the_last_pass_go_with_the_partition(shared: SharedStore) -> None:
    """In the commit of the hand-over, after which nothing is appended."""
    topic = shared.topic("t", 3)
    one = shared.brokers[1]
    one.commit.hold()
    one.append(record_batch(["in flight"]))
    one.scheduler.run_pass()
    one.append(record_batch(["staged"]))
    ask(shared, topic.partition_ids[0], 2)
    shared.run()
    with pytest.raises(NotLeaderOrFollower) as refused:
        one.partition()
    assert refused.value.leader == (-1, -1)
    one.commit.let_go()
    shared.run()
    assert leaders(shared)[0] == (2, 1)
    assert log_of(one) == [(0, 0), (1, 0)]
    reads = shared.brokers[2].partition()
    assert reads.high_watermark == 2
    # The snapshot of the last leader has all: no header is read.
    assert reads.bytes_since_snapshot == 0


def test_a_leader_whose_hand_over_fails_leads_again(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    one = shared.brokers[1]
    one.appended(record_batch(["a"]))
    one.commit.hold()
    ask(shared, topic.partition_ids[0], 2)
    shared.advance(20)
    assert one.leader(topic.partition_ids[0]) == (-1, -1)
    one.commit.let_fail()
    one.scheduler.run_pass()
    assert one.leader(topic.partition_ids[0]) == (1, 0)
    one.appended(record_batch(["b"]))
    shared.advance(2000)
    assert leaders(shared)[0] == (2, 1)
    assert log_of(one) == [(0, 0), (1, 0)]


def test_after_a_failed_hand_over_a_producer_begins_with_its_first_batch(
    shared: SharedStore,
) -> None:
    """Batches that it has pipelined behind lost ones would overtake them."""
    topic = shared.topic("t", 3)
    one = shared.brokers[1]

    def batch(producer_id: int, sequence: int) -> bytearray:
        return record_batch(["a"], producer_id=producer_id, epoch=0, sequence=sequence)

    one.commit.hold()
    one.append(batch(7, 0))  # in the commit under way
    one.scheduler.run_pass()
    one.append(batch(8, 0))  # in that of the hand-over
    ask(shared, topic.partition_ids[0], 2)
    shared.run()
    assert one.leader(topic.partition_ids[0]) == (-1, -1)
    one.commit.let_fail()
    assert one.leader(topic.partition_ids[0]) == (1, 0)
    for producer_id in (7, 8):
        assert isinstance(one.append(batch(producer_id, 1)), OutOfOrderSequence)
        assert isinstance(one.append(batch(producer_id, 0)), Appended)
        assert isinstance(one.append(batch(producer_id, 1)), Appended)
    shared.advance(2000)
    assert leaders(shared)[0] == (2, 1)
    assert len(log_of(one)) == 4


def test_while_another_broker_has_the_right_a_leader_goes_on(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    one, three = shared.brokers[1], shared.brokers[3]
    ask(shared, topic.partition_ids[0], 2)
    three.scheduler.run()
    three.changes.check()
    three.commit.ends_right = 0  # none of its commits ends it
    shared.advance(500)
    one.appended(record_batch(["a"]))
    shared.release(three.store)
    shared.run()
    assert leaders(shared)[0] == (2, 1)


def test_a_reassignment_waits_for_a_living_broker(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    shared.kill(2)
    shared.fence(2)
    ask(shared, topic.partition_ids[0], 2)
    shared.run()
    assert leaders(shared)[0] == (1, 0)
    shared.start(2)
    assert leaders(shared)[0][0] == 2


def test_a_fenced_broker_leads_nothing_until_it_has_begun_again(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    one, two = shared.brokers[1], shared.brokers[2]
    two.appended(record_batch(["a"]), index=1)
    lost: list[object] = []
    two.append(record_batch(["zombie"]), index=1)
    two.core.commits.wait(lost.append)
    shared.members.fence(2)
    assert two.leader(topic.partition_ids[1])[0] == -1
    shared.run()
    assert isinstance(lost[0], StorageFailed)
    taken_by, epoch = one.leader(topic.partition_ids[1])
    assert taken_by in (1, 3) and epoch == 1
    shared.brokers[taken_by].appended(record_batch(["b"]), index=1)
    shared.members.come_back(2)
    shared.run()
    assert leaders(shared)[1] == (taken_by, 1)
    assert log_of(one, 1) == [(0, 0), (1, 1)]


def test_a_broker_that_was_fenced_and_still_leads_raises_the_epoch(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    shared.members.fence(2)  # nobody has taken its partitions over yet
    shared.members.come_back(2)
    shared.run()
    assert leaders(shared) == [(1, 0), (2, 1), (3, 0)]
    assert shared.brokers[2].leader(topic.partition_ids[1]) == (2, 1)


def hand_over_all(shared: SharedStore, node_id: int) -> list[object]:
    done: list[object] = []
    shared.brokers[node_id].broker.hand_over_all().then(done.append)
    shared.run()
    return done


def test_a_broker_that_stops_hands_all_over_evenly(shared: SharedStore) -> None:
    shared.topic("t", 30)
    one = shared.brokers[1]
    for index in range(0, 30, 3):
        one.appended(record_batch(["a"]), index=index)
    commits = one.commit.count
    assert hand_over_all(shared, 1) == [None]
    assert one.commit.count == commits + 1
    assert Counter(node_id for node_id, _ in leaders(shared)) == {2: 15, 3: 15}
    assert {epoch for _, epoch in leaders(shared)} == {0, 1}


def test_a_broker_that_stops_alone_hands_nothing_over(shared: SharedStore) -> None:
    shared.topic("t", 3)
    for node_id in (2, 3):
        shared.kill(node_id)
        shared.fence(node_id)
    before = leaders(shared)
    assert hand_over_all(shared, 1) == [None]
    assert leaders(shared) == before


def test_a_failed_commit_ends_the_stop(shared: SharedStore) -> None:
    shared.topic("t", 3)
    shared.brokers[1].commit.fail_next()
    [failure] = hand_over_all(shared, 1)
    assert isinstance(failure, StorageFailed)
    assert leaders(shared)[0] == (1, 0)


def test_brokers_that_stop_together_hand_nothing_to_each_other(shared: SharedStore) -> None:
    shared.topic("t", 30)
    done: list[object] = []
    for node_id in (1, 2):
        shared.brokers[node_id].broker.hand_over_all().then(done.append)
    shared.run()
    assert done == [None, None]
    assert {node_id for node_id, _ in leaders(shared)} == {3}


def test_a_broker_that_stops_hands_over_what_another_one_has_just_given_to_it(
    shared: SharedStore,
) -> None:
    shared.topic("t", 1)
    one = shared.brokers[1]
    one.commit.hold()
    one.broker.hand_over_all()
    assert hand_over_all(shared, 2) == [None]  # it leads nothing yet
    one.commit.let_go()
    shared.run()
    assert leaders(shared) == [(3, 2)]


def test_the_last_brokers_that_stop_hand_nothing_over(shared: SharedStore) -> None:
    """They lead, for the clients that are connected, until they end."""
    shared.topic("t", 3)
    shared.kill(3)
    shared.fence(3)
    before = leaders(shared)
    for node_id in (1, 2):
        shared.brokers[node_id].membership.announce_stop()
    assert hand_over_all(shared, 1) == hand_over_all(shared, 2) == [None]
    assert leaders(shared) == before
    shared.kill(1)
    shared.fence(1)
    assert {node_id for node_id, _ in leaders(shared)} == {2}


def test_a_reassignment_waits_for_a_broker_that_stops(shared: SharedStore) -> None:
    topic = shared.topic("t", 3)
    hand_over_all(shared, 2)
    ask(shared, topic.partition_ids[0], 2)
    shared.run()
    assert leaders(shared)[0] == (1, 0)
    shared.kill(2)
    shared.start(2)
    assert leaders(shared)[0][0] == 2
