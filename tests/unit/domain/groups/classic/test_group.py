"""The interface of classic groups that all kinds of groups have."""

from __future__ import annotations

import pytest

from domain.errors import (
    GroupIdNotFound,
    NonEmptyGroup,
    RebalanceInProgress,
)
from domain.groups.classic import group as classic_group
from domain.groups.classic.changes import (
    GroupMetadataChanged,
    Image,
    MemberPending,
    RebalanceStarted,
    SessionsStarted,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.member import MemberImage
from domain.groups.group import NO_EPOCH, GroupKind
from tests.fakes.consumer_protocol import subscription


def member(member_id: str, instance_id: str | None = None, *topics: str) -> MemberImage:
    protocols = (("range", subscription(*topics)),)
    return MemberImage(member_id, instance_id, "c", "/h", 60_000, 10_000, protocols, b"assignment")


def group(*members: MemberImage, assigned: bool = True, type_: str = "consumer") -> ClassicGroup:
    """In generation 5, as after a restart."""
    restored = ClassicGroup("g")
    leader = members[0].member_id if members else None
    protocol = "range" if members else None
    image = Image(5, type_, protocol, leader, 1000, members, assigned)
    restored.apply(GroupMetadataChanged("g", image))
    restored.apply(SessionsStarted("g", 0))
    return restored


def test_a_group_without_a_join_is_a_simple_group() -> None:
    simple = ClassicGroup("g")
    assert (simple.kind, simple.state_name, simple.protocol_type) == (
        GroupKind.CLASSIC,
        "Empty",
        "",
    )
    assert simple.is_empty
    assert simple.next_deadline() is None
    simple.check_commit("", None, NO_EPOCH, True)
    simple.check_fetch(None, NO_EPOCH)
    simple.check_delete()
    assert not simple.subscribes("t")
    assert simple.offsets_expire_from("t", 77) == 77


def test_commits_are_accepted_while_members_join_but_not_before_the_assignment() -> None:
    with pytest.raises(RebalanceInProgress):
        group(member("a"), assigned=False).check_commit("a", None, 5, True)
    preparing = group(member("a"))
    preparing.apply(RebalanceStarted("g", 60_000))
    preparing.check_commit("a", None, 5, True)


def test_a_commit_renews_the_session_of_a_stable_group() -> None:
    stable, completing = group(member("a")), group(member("a"), assigned=False)
    for one in (stable, completing):
        one.renew_session("a", 4000)
        one.renew_session("unknown", 4000)
    assert stable.next_deadline() == 14_000
    assert completing.next_deadline() == 10_000


def test_only_a_group_without_members_is_deleted() -> None:
    with pytest.raises(NonEmptyGroup):
        group(member("a")).check_delete()
    deleted = group()
    deleted.check_delete()
    for change in deleted.deletion():
        deleted.apply(change)
    assert deleted.state_name == "Dead"
    with pytest.raises(GroupIdNotFound):
        deleted.check_delete()
    with pytest.raises(GroupIdNotFound):
        deleted.check_fetch(None, NO_EPOCH)


def test_a_group_subscribes_to_the_topics_of_its_members() -> None:
    stable = group(member("a", None, "t", "u"), member("b", None, "v"))
    assert [stable.subscribes(topic) for topic in "tuvw"] == [True, True, True, False]


def test_subscriptions_are_decoded_on_demand_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []

    def subscribed_topics(subscription: bytes) -> frozenset[str]:
        read.append(subscription)
        return frozenset("t")

    monkeypatch.setattr(classic_group, "subscribed_topics", subscribed_topics)
    stable = group(member("a", None, "t"), member("b", None, "t"), member("c", None, "t", "u"))
    assert read == []
    assert stable.subscribes("t") and not stable.subscribes("u")
    assert len(read) == 2


def test_consumers_with_a_malformed_subscription_subscribe_to_any_topic() -> None:
    garbled = member("a")._replace(protocols=(("range", b"?"),))
    assert group(garbled).subscribes("t")
    assert not group(garbled, type_="connect").subscribes("t")


def test_offsets_expire_if_no_member_subscribes_to_the_topic() -> None:
    assert group().offsets_expire_from("t", 77) == 1000, "since the group is empty"
    stable = group(member("a", None, "t"))
    assert stable.offsets_expire_from("t", 77) is None
    assert stable.offsets_expire_from("u", 77) == 77
    assert group(member("a"), assigned=False).offsets_expire_from("u", 77) is None
    assert group(member("a"), type_="connect").offsets_expire_from("u", 77) is None


def test_the_next_deadline_is_the_earliest() -> None:
    stable = group(member("a"))
    stable.apply(MemberPending("g", "b", 7000))
    assert stable.next_deadline() == stable.soonest_ms == 7000
