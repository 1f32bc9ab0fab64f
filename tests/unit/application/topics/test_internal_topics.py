"""__consumer_offsets and __transaction_state are created, filled and removed after the start."""

from __future__ import annotations

import pytest

from application.state.runtime import ignore
from application.topics.internal_topics import RECORDS_PER_COMMIT
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from tests.fakes.broker import FakeBroker
from tests.fakes.cold_log import make_cold, restarted_cold
from tests.fakes.following_brokers import FollowingBrokers
from tests.fakes.groups import persist_offsets
from tests.fakes.offsets_topic import Committed, Generation, records_of
from tests.fakes.transaction_topic import EMPTY, Written, states_of
from tests.fakes.transactional_producer import TransactionalProducer
from tests.fakes.two_brokers import TwoBrokers

GROUPS = RECORDS_PER_COMMIT + 50


def switched(fake: FakeBroker, offsets_topic: str) -> FakeBroker:
    """The broker after a restart with the setting."""
    fake.close()
    again = FakeBroker(fake.store, offsets_topic=offsets_topic, offsets_topic_num_partitions="5")
    again.broker.start_upkeep()
    return again


@pytest.fixture
def off() -> FakeBroker:
    """Many groups with an offset; one has a generation, too."""
    fake = FakeBroker()
    fake.topic("t", 2)
    for number in range(GROUPS):
        persist_offsets(fake, f"g{number}", "t", 0, offset=number)
    image = Image(4, "consumer", None, None, 6, (), is_assigned=False)
    changes = [GroupMetadataChanged("g1", image)]
    fake.broker.groups.registry.runtime.persist("g1", changes, ignore)
    fake.run()
    return fake


def expected() -> set[Committed | Generation]:
    offsets = {Committed(f"g{number}", "t", 0, number) for number in range(GROUPS)}
    return {*offsets, Generation("g1", 4)}


def test_the_topics_have_the_configs_of_kafka() -> None:
    on = FakeBroker(offsets_topic="on")
    on.broker.start_upkeep()
    on.scheduler.advance(100)
    offsets, transactions = on.existing(OFFSETS_TOPIC), on.existing(TRANSACTION_TOPIC)
    assert len(offsets.partition_ids) == len(transactions.partition_ids) == 50
    assert offsets.configs == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
    assert transactions.configs == {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "min.insync.replicas": "1",
        "segment.bytes": "104857600",
        "unclean.leader.election.enable": "false",
    }


def test_existing_transactions_are_appended_once_in_slices() -> None:
    fake = FakeBroker()
    for number in range(GROUPS):
        TransactionalProducer(fake, f"tx{number}").init()
    expected = {Written(f"tx{number}", EMPTY) for number in range(GROUPS)}
    on = switched(fake, "on")
    before = on.commit.count
    on.scheduler.advance(1000)
    assert on.commit.count - before >= 4, "the topic, the transactions in two slices, complete"
    again = switched(on, "on")
    again.scheduler.advance(1000)
    found = states_of(again)
    assert (len(found), set(found)) == (GROUPS, expected)


def test_a_store_with_one_of_the_topics_gets_the_other(off: FakeBroker) -> None:
    """From a release without __transaction_state."""
    on = switched(off, "on")
    on.scheduler.advance(1000)
    on.changes.check()
    on.core.cluster.save_internal_topic(TRANSACTION_TOPIC, None)
    on.broker.topics.delete_topics.delete([on.existing(TRANSACTION_TOPIC)])
    on.run()
    again = switched(on, "on")
    again.scheduler.advance(1000)
    assert len(records_of(again)) == GROUPS + 1
    assert again.existing(TRANSACTION_TOPIC).is_internal


def test_existing_offsets_and_groups_are_appended_once(off: FakeBroker) -> None:
    on = switched(off, "on")
    on.scheduler.advance(1000)
    records = records_of(on)
    assert (len(records), set(records)) == (GROUPS + 1, expected())
    again = switched(on, "on")
    again.scheduler.advance(1000)
    assert len(records_of(again)) == GROUPS + 1


@pytest.mark.parametrize("commits", range(1, 7))
def test_a_broker_that_dies_while_it_appends_them_begins_again(
    off: FakeBroker, commits: int
) -> None:
    on = switched(off, "on")
    before = on.commit.count
    while on.commit.count < before + commits:
        on.scheduler.advance(1)
    again = switched(on, "on")
    again.scheduler.advance(1000)
    assert set(records_of(again)) == expected()
    assert len(records_of(again)) == GROUPS + 1


def test_failed_commits_are_repeated(off: FakeBroker) -> None:
    on = switched(off, "on")
    for _ in range(3):
        on.commit.fail_next()
        on.scheduler.advance(2)
    on.scheduler.advance(60_000)
    assert set(records_of(on)) == expected()


def test_a_commit_that_is_in_flight_meanwhile_is_the_last_record(off: FakeBroker) -> None:
    on = switched(off, "on")
    for turn in range(20):
        persist_offsets(on, "g0", "t", 0, offset=1000 + turn)
        on.scheduler.advance(1)
    on.scheduler.advance(1000)
    of_group = [one for one in records_of(on) if one[:3] == ("g0", "t", 0)]
    assert of_group[-1] == Committed("g0", "t", 0, 1019)


@pytest.mark.parametrize("commits", range(1, 5))
def test_an_offset_that_is_lost_with_the_records_has_none(off: FakeBroker, commits: int) -> None:
    """The job learns of the failure before the offset does."""
    on = switched(off, "on")
    for number in range(commits):
        if number:
            on.commit.let_go()
        on.commit.hold()
        while not on.commit.under_way:
            on.scheduler.advance(1)
    persist_offsets(on, "g0", "t", 0, offset=77)
    on.commit.let_fail()
    on.scheduler.advance(10_000)
    assert set(records_of(on)) == expected()


def test_a_start_with_off_that_is_killed_does_not_make_the_topic_stale(off: FakeBroker) -> None:
    on = switched(off, "on")
    on.scheduler.advance(1000)
    without = switched(on, "off")
    persist_offsets(without, "g0", "t", 0, offset=1000)
    without.run()
    again = switched(without, "on")
    again.scheduler.advance(1000)
    of_group = [one for one in records_of(again) if one[:3] == ("g0", "t", 0)]
    assert of_group[-1] == Committed("g0", "t", 0, 1000)


def test_the_topics_are_deleted_when_the_setting_is_off(off: FakeBroker) -> None:
    on = switched(off, "on")
    on.scheduler.advance(1000)
    without = switched(on, "off")
    without.scheduler.advance(60_000)
    assert [topic.name for topic in without.broker.catalog] == ["t"]
    assert len(without.broker.dropping) == 0
    assert len(without.broker.groups.registry) == GROUPS
    again = switched(without, "on")
    again.scheduler.advance(1000)
    assert set(records_of(again)) == expected()


@pytest.mark.parametrize("setting", ["on", "off"])
def test_the_topics_are_created_and_deleted_with_the_right(off: FakeBroker, setting: str) -> None:
    on = switched(off, "on")
    if setting == "off":
        on.scheduler.advance(1000)
        on = switched(on, "off")
    before = {name: dict(rows) for name, rows in on.store.tables.items()}
    on.changes.withhold()
    on.scheduler.advance(1000)
    assert (on.store.tables, on.changes.waiting) == (before, 2)
    # Two topics, and their completeness, or the marks of their partitions.
    on.changes.give(callers=4 if setting == "on" else 3)
    on.scheduler.advance(1000)
    assert on.changes.waiting == 0
    assert (on.broker.catalog.topic(OFFSETS_TOPIC) is not None) == (setting == "on")
    assert (on.broker.catalog.topic(TRANSACTION_TOPIC) is not None) == (setting == "on")


def test_completeness_is_a_row_that_needs_the_right(off: FakeBroker) -> None:
    on = switched(off, "on")
    on.commit.hold()
    while not on.commit.under_way:
        on.scheduler.advance(1)
    on.changes.withhold()
    on.commit.let_go()
    on.scheduler.advance(1000)
    cluster = on.core.cluster
    written = cluster.internal_topic(OFFSETS_TOPIC)
    assert written is not None and not written.complete
    assert set(records_of(on)) == expected()
    on.changes.give()
    on.scheduler.advance(1000)
    assert cluster.internal_topic(OFFSETS_TOPIC) == written._replace(complete=True)


def test_the_broker_that_has_the_right_first_creates_the_topics() -> None:
    two = FollowingBrokers(offsets_topic="on", offsets_topic_num_partitions="5")
    for broker in (two.first, two.second):
        broker.broker.start_upkeep()
    two.second.changes.withhold()
    two.advance(1000)
    topic_id = two.first.existing(OFFSETS_TOPIC).topic_id
    two.second.changes.give()
    two.advance(1000)
    for broker in (two.first, two.second):
        assert broker.existing(OFFSETS_TOPIC).topic_id == topic_id
    assert len(two.first.broker.catalog) == len(two.second.broker.catalog) == 2
    assert "doomed" not in two.store.tables


def test_a_commit_after_a_start_appends_without_waiting_for_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = FakeBroker(offsets_topic="on", offsets_topic_num_partitions="2")
    on.broker.start_upkeep()
    on.topic("t")
    on.scheduler.advance(100)
    persist_offsets(on, "g", "t", 0, offset=1)
    on.run()
    again = restarted_cold(on, monkeypatch)
    again.broker.start_upkeep()
    again.scheduler.advance(100)
    persist_offsets(again, "g", "t", 0, offset=2)
    again.run()
    assert records_of(again) == [Committed("g", "t", 0, 1), Committed("g", "t", 0, 2)]


def test_a_commit_after_a_move_appends_without_waiting_for_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two = TwoBrokers()
    two.move(1)
    for broker in (two.first, two.second):
        broker.broker.start_upkeep()
        broker.run()
    persist_offsets(two.first, "g", "t", 0, offset=1)
    two.first.run()
    make_cold(two.second, monkeypatch)
    two.move(2)
    two.second.run()
    persist_offsets(two.second, "g", "t", 0, offset=2)
    two.second.run()
    assert records_of(two.second) == [Committed("g", "t", 0, 1), Committed("g", "t", 0, 2)]
