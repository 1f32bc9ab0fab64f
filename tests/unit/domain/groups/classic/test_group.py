"""A classic group as those see it who do not care which kind of group it is."""

from __future__ import annotations

import pytest

from domain.errors import (
    BrokerError,
    FencedInstanceId,
    GroupIdNotFound,
    IllegalGeneration,
    NonEmptyGroup,
    RebalanceInProgress,
    UnknownMemberId,
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


def subscription(*topics: str) -> bytes:
    said = b"\0\0" + len(topics).to_bytes(4, "big")
    for topic in topics:
        said += len(topic).to_bytes(2, "big") + topic.encode()
    return said + b"\xff\xff\xff\xff"


def kept(member_id: str, instance_id: str | None = None, *topics: str) -> MemberImage:
    protocols = (("range", subscription(*topics)),)
    return MemberImage(member_id, instance_id, "c", "/h", 60_000, 10_000, protocols, b"share")


def group(*members: MemberImage, assigned: bool = True, type_: str = "consumer") -> ClassicGroup:
    """In generation 5, as it is after a restart."""
    made = ClassicGroup("g")
    leader = members[0].member_id if members else None
    protocol = "range" if members else None
    image = Image(5, type_, protocol, leader, 1000, members, assigned)
    made.apply(GroupMetadataChanged("g", image))
    made.apply(SessionsStarted("g", 0))
    return made


def test_a_group_that_nobody_joined_is_simple() -> None:
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


@pytest.mark.parametrize(
    ("member_id", "instance_id", "epoch", "refusal"),
    [
        ("", None, NO_EPOCH, UnknownMemberId),
        ("x", None, 5, UnknownMemberId),
        ("a", None, 4, IllegalGeneration),
        ("a", None, NO_EPOCH, IllegalGeneration),
        ("a", "no-such", 5, UnknownMemberId),
        ("a", "i", 5, FencedInstanceId),
        ("", "i", NO_EPOCH, FencedInstanceId),
    ],
)
def test_only_a_member_of_this_generation_commits(
    member_id: str, instance_id: str | None, epoch: int, refusal: type[BrokerError]
) -> None:
    stable = group(kept("a"), kept("b", "i"))
    stable.check_commit("a", None, 5, True)
    stable.check_commit("b", "i", 5, True)
    with pytest.raises(refusal):
        stable.check_commit(member_id, instance_id, epoch, True)


def test_an_empty_group_takes_commits_of_no_member_and_of_nobody_else() -> None:
    empty = group()
    empty.check_commit("", None, NO_EPOCH, True)
    empty.check_commit("whoever", None, NO_EPOCH, True)
    with pytest.raises(UnknownMemberId):
        empty.check_commit("a", None, 5, True)


def test_commits_wait_for_the_assignment() -> None:
    with pytest.raises(RebalanceInProgress):
        group(kept("a"), assigned=False).check_commit("a", None, 5, True)


def test_commits_are_taken_while_members_join() -> None:
    preparing = group(kept("a"))
    preparing.apply(RebalanceStarted("g", 60_000))
    preparing.check_commit("a", None, 5, True)


def test_a_commit_is_as_good_as_a_heartbeat_but_not_before_the_assignment() -> None:
    stable, completing = group(kept("a")), group(kept("a"), assigned=False)
    for one in (stable, completing):
        one.renew_session("a", 4000)
        one.renew_session("nobody", 4000)
    assert stable.next_deadline() == 14_000
    assert completing.next_deadline() == 10_000


def test_a_group_with_members_is_not_deleted() -> None:
    with pytest.raises(NonEmptyGroup):
        group(kept("a")).check_delete()


def test_a_deleted_group_is_dead() -> None:
    gone = group()
    gone.check_delete()
    for change in gone.deletion():
        gone.apply(change)
    assert gone.state_name == "Dead"
    with pytest.raises(GroupIdNotFound):
        gone.check_delete()
    with pytest.raises(GroupIdNotFound):
        gone.check_fetch(None, NO_EPOCH)


def test_what_members_read_is_what_they_say_as_consumers() -> None:
    stable = group(kept("a", None, "t", "u"), kept("b", None, "v"))
    assert [stable.subscribes(topic) for topic in "tuvw"] == [True, True, True, False]


def test_what_they_say_is_read_when_somebody_asks_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []

    def subscribed_topics(subscription: bytes) -> frozenset[str]:
        read.append(subscription)
        return frozenset("t")

    monkeypatch.setattr(classic_group, "subscribed_topics", subscribed_topics)
    stable = group(kept("a", None, "t"), kept("b", None, "t"), kept("c", None, "t", "u"))
    assert read == []
    assert stable.subscribes("t") and not stable.subscribes("u")
    assert len(read) == 2


def test_a_group_that_cannot_be_understood_may_read_everything_if_of_consumers() -> None:
    garbled = kept("a")._replace(protocols=(("range", b"?"),))
    assert group(garbled).subscribes("t")
    assert not group(garbled, type_="connect").subscribes("t")


def test_offsets_of_an_empty_group_expire_from_the_moment_it_became_empty() -> None:
    assert group().offsets_expire_from("t", 77) == 1000


def test_offsets_of_a_stable_group_expire_where_nobody_reads() -> None:
    stable = group(kept("a", None, "t"))
    assert stable.offsets_expire_from("t", 77) is None
    assert stable.offsets_expire_from("u", 77) == 77
    assert group(kept("a"), assigned=False).offsets_expire_from("u", 77) is None
    assert group(kept("a"), type_="connect").offsets_expire_from("u", 77) is None


def test_the_next_deadline_is_the_first_of_all() -> None:
    stable = group(kept("a"))
    stable.apply(MemberPending("g", "b", 7000))
    assert stable.next_deadline() == stable.soonest_ms == 7000
