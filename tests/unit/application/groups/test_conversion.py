"""Groups that change their kind while they have members, over sessions."""

from __future__ import annotations

from typing import Any

import pytest

from application.topics.partitions import MorePartitions
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.embedded_protocol import write_assignment
from tests.fakes.classic_members import join_all
from tests.fakes.classic_requests import heartbeat_request, join_request, leave_request
from tests.fakes.client import FakeKafka
from tests.fakes.mixed_group import (
    Modern,
    classic,
    kind,
    rejoin,
    share_out,
    subscription,
    synced,
)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 4)
    return kafka


def existing(kafka: FakeKafka) -> ConsumerGroup:
    return ConsumerGroup.existing(kafka.broker.groups.find("g"), "g")


# upgrade


def test_a_classic_group_becomes_a_modern_one_and_its_members_go_on(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    assert modern.join().member_epoch == 2
    assert kind(kafka) is ConsumerGroup
    assert old.heartbeat() == 27
    assert rejoin(old, [0, 1, 2, 3]) == rejoin(old, [0, 1]) == [0, 1]
    assert old.generation_id == 2
    assert modern.beat().error_code == 0
    assert modern.partitions == [2, 3]
    assert old.heartbeat() == 0


def test_what_was_assigned_stays_until_it_is_given_up(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    for _ in range(3):
        modern.beat()
    assert modern.partitions == []
    group = existing(kafka)
    assert [sorted(ones) for ones in group.current(old.member_id).assigned.values()] == [
        [0, 1, 2, 3]
    ]


def test_whoever_waits_for_a_rebalance_is_told_to_begin_anew(kafka: FakeKafka) -> None:
    first, second = classic(kafka), classic(kafka)
    share_out(first)
    second.fetch_id()
    second.begin_join()
    assert Modern(kafka).join().error_code == 0
    assert second.answer().error_code == 27


def test_a_member_that_joins_again_with_another_protocol_may_be_upgraded(kafka: FakeKafka) -> None:
    both = {"range": subscription("t"), "roundrobin": subscription("t")}
    leader, other = classic(kafka, protocols=both), classic(kafka, protocols=both)
    share_out(leader, other)
    other.begin_join(protocols={"roundrobin": subscription("t")})
    kafka.run()
    assert Modern(kafka).join().error_code == 0
    assert other.answer().error_code == 27


def test_an_upgrade_that_cannot_be_kept_never_was(kafka: FakeKafka) -> None:
    old = classic(kafka)
    share_out(old)
    kafka.commit.fail_next()
    assert Modern(kafka).join().error_code == 15
    assert kind(kafka) is ClassicGroup
    assert old.heartbeat() == 0


def test_after_a_restart_it_is_still_under_way(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    after = kafka.restarted()
    group = existing(after)
    assert set(group.members) == {old.member_id, "m"}
    assert group.members[old.member_id].classic is not None


@pytest.mark.parametrize(
    ("settings", "facts", "why"),
    [
        ({"group_consumer_migration_policy": "downgrade"}, {}, "online upgrade is disabled."),
        ({"group_consumer_migration_policy": "disabled"}, {}, "online upgrade is disabled."),
        (
            {},
            {"protocol_type": "connect"},
            "the group does not use the consumer embedded protocol.",
        ),
        (
            {},
            {"protocols": {"range": b"\0\1"}},
            "the embedded consumer protocol is malformed.",
        ),
    ],
)
def test_where_it_cannot_be_upgraded_the_group_stays_as_it_is(
    settings: dict[str, str], facts: dict[str, Any], why: str
) -> None:
    kafka = FakeKafka(**settings)
    kafka.topic("t", 4)
    share_out(classic(kafka, **facts))
    refused = Modern(kafka).join()
    assert refused.error_code == 69
    assert refused.error_message == (
        f"Cannot upgrade classic group g to consumer group because {why}"
    )
    assert kind(kafka) is ClassicGroup


def test_a_group_that_is_too_large_is_not_upgraded() -> None:
    kafka = FakeKafka(group_consumer_max_size="1")
    kafka.topic("t", 4)
    share_out(classic(kafka), classic(kafka))
    assert "exceeds the consumer group maximum size" in str(Modern(kafka).join().error_message)


def test_an_assignor_that_keeps_something_of_its_own_stands_in_the_way(kafka: FakeKafka) -> None:
    old = classic(kafka)
    join_all(old)
    old.sync({old.member_id: write_assignment(1, {})[:-4] + b"\0\0\0\1x"})
    assert "custom assignor" in str(Modern(kafka).join().error_message)


def test_a_partition_that_an_assignor_gave_to_two_has_one_owner(kafka: FakeKafka) -> None:
    first, second = classic(kafka), classic(kafka)
    join_all(first, second)
    second.begin_sync()
    all_of_it = write_assignment(1, {"t": [0, 1, 2, 3]})
    first.sync({first.member_id: all_of_it, second.member_id: all_of_it})
    assert Modern(kafka).join().error_code == 0


# members of the classic protocol in a consumer group


def test_an_old_member_may_join_a_modern_group(kafka: FakeKafka) -> None:
    modern, old = Modern(kafka), classic(kafka)
    modern.join()
    old.fetch_id()
    answer = old.join()
    assert (answer.generation_id, answer.protocol_name, answer.leader) == (2, "range", "")
    assert answer.members == []
    assert synced(old) == []
    modern.beat()
    modern.beat()
    assert old.heartbeat() == 27
    assert rejoin(old, []) == [2, 3]


def test_it_has_to_be_a_consumer_that_can_be_read(kafka: FakeKafka) -> None:
    Modern(kafka).join()
    assert classic(kafka, protocol_type="connect").join(version=3).error_code == 23
    assert classic(kafka, protocols={"range": b"\0\1"}).join(version=3).error_code == 23


def test_all_old_members_have_an_assignor_in_common(kafka: FakeKafka) -> None:
    Modern(kafka).join()
    assert classic(kafka).join().error_code == 0
    other = classic(kafka, protocols={"sticky": subscription("t")})
    assert other.join(version=3).error_code == 23


def test_a_wrong_generation_an_unknown_member_and_a_modern_one_are_refused(
    kafka: FakeKafka,
) -> None:
    modern, old = Modern(kafka), classic(kafka)
    modern.join()
    old.join()
    old.generation_id += 1
    assert old.heartbeat() == 22
    assert old.sync(protocol_type="consumer", protocol_name="range").error_code == 22
    old.member_id = "m"
    assert old.heartbeat() == 25
    old.member_id = "nobody"
    assert old.heartbeat() == 25


def test_sync_names_the_assignor_that_join_named(kafka: FakeKafka) -> None:
    old = classic(kafka)
    Modern(kafka).join()
    old.join()
    assert old.sync(protocol_type="consumer", protocol_name="sticky").error_code == 23


def test_while_the_group_goes_on_a_sync_is_told_to_join_again(kafka: FakeKafka) -> None:
    old = classic(kafka)
    Modern(kafka).join()
    old.join()
    Modern(kafka, "n").join()
    assert old.sync(protocol_type="consumer", protocol_name="range").error_code == 27


def test_a_silent_old_member_is_taken_out_by_its_own_session_timeout(kafka: FakeKafka) -> None:
    modern, old = Modern(kafka), classic(kafka, session_ms=10_000)
    modern.join()
    old.join()
    synced(old)
    kafka.scheduler.advance(10_000)
    assert set(existing(kafka).members) == {"m"}


@pytest.mark.parametrize("syncs", [True, False])
def test_who_does_not_sync_or_join_again_in_time_is_taken_out(
    kafka: FakeKafka, syncs: bool
) -> None:
    old = classic(kafka, session_ms=60_000, rebalance_ms=20_000)
    modern = Modern(kafka)
    modern.join()
    old.join()
    if syncs:
        synced(old)
        Modern(kafka, "n").join()
        assert old.heartbeat() == 27
    kafka.scheduler.advance(19_999)
    assert old.member_id in existing(kafka).members
    kafka.scheduler.advance(1)
    assert old.member_id not in existing(kafka).members


def test_members_of_both_protocols_leave_by_leave_group(kafka: FakeKafka) -> None:
    modern, other, old = Modern(kafka), Modern(kafka, "n"), classic(kafka)
    modern.join()
    other.join()
    old.join()
    assert old.leave().members[0].error_code == 0
    old.member_id = "n"
    assert old.leave().members[0].error_code == 0
    assert old.leave().members[0].error_code == 25
    assert set(existing(kafka).members) == {"m"}


# downgrade


def test_when_the_last_modern_member_leaves_it_is_a_classic_group_again(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    assert rejoin(old, [0, 1, 2, 3]) == rejoin(old, [0, 1])
    modern.say(-1)
    assert kind(kafka) is ClassicGroup
    assert old.heartbeat() == 27
    answer = old.join()
    assert (answer.generation_id, answer.leader) == (3, old.member_id)


def test_so_it_is_when_its_session_ends(kafka: FakeKafka) -> None:
    old, modern = classic(kafka, session_ms=60_000), Modern(kafka)
    share_out(old)
    modern.join()
    assert rejoin(old, [0, 1, 2, 3]) == rejoin(old, [0, 1])
    kafka.scheduler.advance(45_000)
    assert kind(kafka) is ClassicGroup
    assert old.heartbeat() == 27


def test_a_downgrade_that_cannot_be_kept_never_was(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    kafka.commit.fail_next()
    assert modern.say(-1).error_code == 15
    assert kind(kafka) is ConsumerGroup


def test_nobody_is_told_of_a_downgrade_that_is_not_kept_yet(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    assert rejoin(old, [0, 1, 2, 3]) == rejoin(old, [0, 1]) == [0, 1]
    kafka.commit.hold()
    modern.client.send(leave_request((modern.member_id, None)), 5)
    kafka.run()
    assert kind(kafka) is ClassicGroup
    old.client.send(heartbeat_request(old.generation_id, old.member_id), 4)
    assert old.waits
    kafka.commit.let_go()
    assert old.answer().error_code == 27


def test_after_a_restart_the_downgraded_group_is_there(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    modern.say(-1)
    group = kafka.restarted().broker.groups.find("g")
    assert isinstance(group, ClassicGroup)
    assert (set(group.members), group.generation_id) == ({old.member_id}, 2)


@pytest.mark.parametrize(
    "settings", [{"group_consumer_migration_policy": "upgrade"}, {"group_max_size": "1"}]
)
def test_where_it_may_not_it_stays_modern(settings: dict[str, str]) -> None:
    kafka = FakeKafka(**settings)
    kafka.topic("t", 4)
    modern = Modern(kafka)
    modern.join()
    for _ in range(2):
        assert classic(kafka).join().error_code == 0
    modern.say(-1)
    assert kind(kafka) is ConsumerGroup


def test_a_static_member_that_comes_back_with_the_classic_protocol_downgrades_it(
    kafka: FakeKafka,
) -> None:
    modern, old = Modern(kafka, instance_id="i"), classic(kafka, instance_id="i")
    modern.join()
    answer = old.join()
    assert (answer.error_code, answer.generation_id) == (0, 1)
    assert kind(kafka) is ClassicGroup
    assert old.sync(protocol_type="consumer", protocol_name="range").error_code == 0


def test_a_static_member_that_comes_back_with_the_consumer_protocol_upgrades_it(
    kafka: FakeKafka,
) -> None:
    old, modern = classic(kafka, instance_id="i"), Modern(kafka, instance_id="i")
    share_out(old)
    assert modern.join().error_code == 0
    assert modern.partitions == [0, 1, 2, 3]
    assert set(existing(kafka).members) == {"m"}


# empty groups


def test_what_the_leader_did_not_see_yet_is_shared_out_at_once(kafka: FakeKafka) -> None:
    """Nobody comes or goes, so nothing else would begin a new epoch."""
    old, modern = classic(kafka, instance_id="i"), Modern(kafka, instance_id="i")
    share_out(old)
    more = MorePartitions("t", 6, None)
    kafka.broker.create_partitions.grow([more], validate_only=False)
    kafka.run()
    assert modern.join().member_epoch == 2
    assert sorted(modern.partitions) == [0, 1, 2, 3, 4, 5]


def test_an_empty_modern_group_is_replaced_by_a_classic_one(kafka: FakeKafka) -> None:
    modern, old = Modern(kafka), classic(kafka)
    modern.join()
    modern.say(-1)
    share_out(old)
    assert kind(kafka) is ClassicGroup
    after = kafka.restarted().broker.groups.find("g")
    assert isinstance(after, ClassicGroup)


@pytest.mark.parametrize(
    ("member_id", "wanted", "code"),
    [("somebody", {}, 25), ("", {"protocol_type": ""}, 23), ("", {"protocols": {}}, 23)],
)
def test_an_empty_modern_group_stays_where_who_comes_is_refused(
    kafka: FakeKafka, member_id: str, wanted: dict[str, Any], code: int
) -> None:
    modern = Modern(kafka)
    modern.join()
    modern.say(-1)
    epoch = existing(kafka).epoch
    answer = kafka.client().ask(join_request(member_id, **wanted), 9)
    assert (answer.error_code, answer.member_id) == (code, member_id)
    assert existing(kafka).epoch == epoch
    assert isinstance(kafka.restarted().broker.groups.find("g"), ConsumerGroup)


def test_an_empty_classic_group_is_replaced_by_a_modern_one(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    old.leave()
    assert modern.join().error_code == 0
    assert isinstance(kafka.restarted().broker.groups.find("g"), ConsumerGroup)
