"""Groups that change their kind while they have members, over sessions."""

from __future__ import annotations

from typing import Any

import pytest

from application.topics.partitions import MorePartitions
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.embedded_protocol import write_assignment
from tests.fakes.broker import FakeBroker
from tests.fakes.classic_members import Member, join_all
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
    return kafka_with()


def existing(kafka: FakeKafka | FakeBroker) -> ConsumerGroup:
    return ConsumerGroup.existing(kafka.broker.groups.registry.find("g"), "g")


def kafka_with(**settings: str) -> FakeKafka:
    kafka = FakeKafka(**settings)
    kafka.topic("t", 4)
    return kafka


def upgraded(kafka: FakeKafka, **facts: Any) -> tuple[Member, Modern]:
    """A classic member with all partitions, in a group that the first consumer upgrades."""
    old, modern = classic(kafka, **facts), Modern(kafka)
    share_out(old)
    assert modern.join().member_epoch == 2
    return old, modern


def joined(kafka: FakeKafka, **facts: Any) -> tuple[Modern, Member]:
    """A consumer, and a classic member that joins its group."""
    modern, old = Modern(kafka), classic(kafka, **facts)
    modern.join()
    old.fetch_id()
    assert old.join().error_code == 0
    return modern, old


# upgrade


def test_a_joining_consumer_upgrades_a_classic_group(kafka: FakeKafka) -> None:
    old, modern = upgraded(kafka)
    assert kind(kafka) is ConsumerGroup
    assert old.heartbeat() == 27
    assert rejoin(old, [0, 1, 2, 3]) == rejoin(old, [0, 1]) == [0, 1]
    assert old.generation_id == 2
    assert modern.beat().error_code == 0
    assert modern.partitions == [2, 3]
    assert old.heartbeat() == 0


def test_a_classic_member_keeps_its_partitions_until_it_revokes_them(kafka: FakeKafka) -> None:
    old, modern = upgraded(kafka)
    for _ in range(3):
        modern.beat()
    assert modern.partitions == []
    [owned] = existing(kafka).current(old.member_id).assigned.values()
    assert sorted(owned) == [0, 1, 2, 3]


def test_an_upgrade_ends_pending_joins_with_rebalance_in_progress(kafka: FakeKafka) -> None:
    first, second = classic(kafka), classic(kafka)
    share_out(first)
    second.fetch_id()
    second.begin_join()
    assert Modern(kafka).join().error_code == 0
    assert second.response().error_code == 27


def test_a_member_that_rejoins_with_another_protocol_can_be_upgraded(kafka: FakeKafka) -> None:
    both = {"range": subscription("t"), "roundrobin": subscription("t")}
    leader, other = classic(kafka, protocols=both), classic(kafka, protocols=both)
    share_out(leader, other)
    other.begin_join(protocols={"roundrobin": subscription("t")})
    kafka.run()
    assert Modern(kafka).join().error_code == 0
    assert other.response().error_code == 27


def test_an_upgrade_whose_commit_fails_is_undone(kafka: FakeKafka) -> None:
    old = classic(kafka)
    share_out(old)
    kafka.commit.fail_next()
    assert Modern(kafka).join().error_code == 15
    assert kind(kafka) is ClassicGroup
    assert old.heartbeat() == 0


def test_a_restart_keeps_members_of_both_protocols(kafka: FakeKafka) -> None:
    old, _ = upgraded(kafka)
    group = existing(kafka.restarted())
    assert set(group.members) == {old.member_id, "m"}
    assert group.members[old.member_id].classic is not None


@pytest.mark.parametrize("policy", ["downgrade", "disabled"])
def test_a_group_stays_classic_if_the_migration_policy_does_not_allow_upgrades(policy: str) -> None:
    kafka = kafka_with(group_consumer_migration_policy=policy)
    share_out(classic(kafka))
    response = Modern(kafka).join()
    assert response.error_code == 69
    assert "online upgrade is disabled" in str(response.error_message)
    assert kind(kafka) is ClassicGroup


def test_a_group_that_is_too_large_is_not_upgraded() -> None:
    kafka = kafka_with(group_consumer_max_size="1")
    share_out(classic(kafka), classic(kafka))
    assert "exceeds the consumer group maximum size" in str(Modern(kafka).join().error_message)


def test_assignments_with_user_data_prevent_the_upgrade(kafka: FakeKafka) -> None:
    old = classic(kafka)
    join_all(old)
    old.sync({old.member_id: write_assignment(1, {})[:-4] + b"\0\0\0\1x"})
    assert "custom assignor" in str(Modern(kafka).join().error_message)


def test_a_partition_that_was_assigned_twice_gets_one_owner(kafka: FakeKafka) -> None:
    first, second = classic(kafka), classic(kafka)
    join_all(first, second)
    second.begin_sync()
    everything = write_assignment(1, {"t": [0, 1, 2, 3]})
    first.sync({first.member_id: everything, second.member_id: everything})
    assert Modern(kafka).join().error_code == 0


# members of the classic protocol in a consumer group


@pytest.mark.parametrize(
    "facts",
    [
        {"protocol_type": "connect"},
        {"protocols": {"range": b"\0\1"}},
        {"protocols": {"sticky": subscription("t")}},
    ],
    ids=["no consumer", "malformed", "no common assignor"],
)
def test_a_classic_member_with_other_protocols_is_refused(
    kafka: FakeKafka, facts: dict[str, Any]
) -> None:
    joined(kafka)
    assert classic(kafka, **facts).join(version=3).error_code == 23


def test_requests_of_classic_members_are_checked(kafka: FakeKafka) -> None:
    _, old = joined(kafka)
    sync = {"protocol_type": "consumer", "protocol_name": "range"}
    assert old.sync(**{**sync, "protocol_name": "sticky"}).error_code == 23
    Modern(kafka, "n").join()
    assert old.sync(**sync).error_code == 27
    old.generation_id += 1
    assert old.heartbeat() == 22
    assert old.sync(**sync).error_code == 22
    for member_id in ("m", "unknown"):
        old.member_id = member_id
        assert old.heartbeat() == 25


def test_a_classic_member_is_removed_at_its_own_session_timeout(kafka: FakeKafka) -> None:
    _, old = joined(kafka, session_ms=10_000)
    synced(old)
    kafka.scheduler.advance(10_000)
    assert set(existing(kafka).members) == {"m"}


@pytest.mark.parametrize("syncs", [True, False])
def test_a_classic_member_is_removed_at_its_rebalance_timeout(
    kafka: FakeKafka, syncs: bool
) -> None:
    _, old = joined(kafka, session_ms=60_000, rebalance_ms=20_000)
    if syncs:
        synced(old)
        Modern(kafka, "n").join()
        assert old.heartbeat() == 27
    kafka.scheduler.advance(19_999)
    assert old.member_id in existing(kafka).members
    kafka.scheduler.advance(1)
    assert old.member_id not in existing(kafka).members


# downgrade


@pytest.mark.parametrize("leaves", [True, False])
def test_without_its_last_consumer_a_group_is_classic_again(kafka: FakeKafka, leaves: bool) -> None:
    old, modern = upgraded(kafka, session_ms=60_000)
    assert rejoin(old, [0, 1, 2, 3]) == rejoin(old, [0, 1])
    if leaves:
        modern.heartbeat(-1)
    else:
        kafka.scheduler.advance(45_000)
    assert kind(kafka) is ClassicGroup
    assert old.heartbeat() == 27
    response = old.join()
    assert (response.generation_id, response.leader) == (3, old.member_id)


def test_a_downgrade_whose_commit_fails_is_undone(kafka: FakeKafka) -> None:
    _, modern = upgraded(kafka)
    kafka.commit.fail_next()
    assert modern.heartbeat(-1).error_code == 15
    assert kind(kafka) is ConsumerGroup


def test_a_heartbeat_waits_for_the_commit_of_a_downgrade(kafka: FakeKafka) -> None:
    old, modern = upgraded(kafka)
    assert rejoin(old, [0, 1, 2, 3]) == rejoin(old, [0, 1]) == [0, 1]
    kafka.commit.hold()
    modern.client.send(leave_request((modern.member_id, None)), 5)
    kafka.run()
    assert kind(kafka) is ClassicGroup
    old.client.send(heartbeat_request(old.generation_id, old.member_id), 4)
    assert old.waits
    kafka.commit.let_go()
    assert old.response().error_code == 27


def test_a_downgraded_group_survives_a_restart(kafka: FakeKafka) -> None:
    old, modern = upgraded(kafka)
    modern.heartbeat(-1)
    group = kafka.restarted().broker.groups.registry.find("g")
    assert isinstance(group, ClassicGroup)
    assert (set(group.members), group.generation_id) == ({old.member_id}, 2)


@pytest.mark.parametrize(
    "settings", [{"group_consumer_migration_policy": "upgrade"}, {"group_max_size": "1"}]
)
def test_a_group_that_cannot_be_downgraded_stays_a_consumer_group(
    settings: dict[str, str],
) -> None:
    kafka = kafka_with(**settings)
    modern, _ = joined(kafka)
    assert classic(kafka).join().error_code == 0
    modern.heartbeat(-1)
    assert kind(kafka) is ConsumerGroup


def test_a_static_member_that_returns_with_the_classic_protocol_downgrades_the_group(
    kafka: FakeKafka,
) -> None:
    modern, old = Modern(kafka, instance_id="i"), classic(kafka, instance_id="i")
    modern.join()
    response = old.join()
    assert (response.error_code, response.generation_id) == (0, 1)
    assert kind(kafka) is ClassicGroup
    assert old.sync(protocol_type="consumer", protocol_name="range").error_code == 0


def test_a_static_member_that_returns_with_the_consumer_protocol_upgrades_the_group(
    kafka: FakeKafka,
) -> None:
    old, modern = classic(kafka, instance_id="i"), Modern(kafka, instance_id="i")
    share_out(old)
    assert modern.join().error_code == 0
    assert modern.partitions == [0, 1, 2, 3]
    assert set(existing(kafka).members) == {"m"}


# empty groups


def test_an_upgrade_assigns_partitions_that_the_leader_has_not_seen(kafka: FakeKafka) -> None:
    """The members stay the same, so nothing else starts a new epoch."""
    old, modern = classic(kafka, instance_id="i"), Modern(kafka, instance_id="i")
    share_out(old)
    more = MorePartitions("t", 6, None)
    kafka.broker.topics.create_partitions.grow([more], validate_only=False)
    kafka.run()
    assert modern.join().member_epoch == 2
    assert sorted(modern.partitions) == [0, 1, 2, 3, 4, 5]


def test_a_classic_join_replaces_an_empty_consumer_group(kafka: FakeKafka) -> None:
    modern, old = Modern(kafka), classic(kafka)
    modern.join()
    modern.heartbeat(-1)
    share_out(old)
    assert kind(kafka) is ClassicGroup
    after = kafka.restarted().broker.groups.registry.find("g")
    assert isinstance(after, ClassicGroup)


@pytest.mark.parametrize(
    ("member_id", "fields", "code"),
    [("unknown", {}, 25), ("", {"protocol_type": ""}, 23), ("", {"protocols": {}}, 23)],
)
def test_a_refused_join_does_not_replace_an_empty_consumer_group(
    kafka: FakeKafka, member_id: str, fields: dict[str, Any], code: int
) -> None:
    modern = Modern(kafka)
    modern.join()
    modern.heartbeat(-1)
    epoch = existing(kafka).epoch
    response = kafka.client().request(join_request(member_id, **fields), 9)
    assert (response.error_code, response.member_id) == (code, member_id)
    assert existing(kafka).epoch == epoch
    assert isinstance(kafka.restarted().broker.groups.registry.find("g"), ConsumerGroup)


def test_a_consumer_replaces_an_empty_classic_group(kafka: FakeKafka) -> None:
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    old.leave()
    assert modern.join().error_code == 0
    assert isinstance(kafka.restarted().broker.groups.registry.find("g"), ConsumerGroup)
