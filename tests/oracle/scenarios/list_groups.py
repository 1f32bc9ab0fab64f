"""Only the groups that a scenario made are compared."""

from __future__ import annotations

from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from interfaces.kafka.wire.messages.list_groups import ListGroupsRequest
from tests.oracle.groups import JOIN, committed, join, joined, modern_member, pending, stable
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

BY_STATE, BY_TYPE = 4, 5


def make_groups(tell: Teller) -> None:
    """One in each state, and one of the other kind with and without a member."""
    topic = tell.topic("a")
    committed(tell, tell.group("empty"), topic, 1)
    pending(tell, tell.group("pending"))
    joined(tell, tell.group("completing"))
    stable(tell, tell.group("stable"), protocol_type="connect")
    preparing = tell.group("preparing")
    stable(tell, preparing)
    tell.begin(join(preparing, pending(tell, preparing)), "second", JOIN)
    tell.group_becomes(preparing, "PreparingRebalance", 2)
    modern_member(tell, tell.group("modern"), "m", topic.name)


@scenario("list_groups")
def all_of_them(tell: Teller) -> None:
    tell.ask("none are there", ListGroupsRequest())
    make_groups(tell)
    tell.ask("ask", ListGroupsRequest())
    gone = DeleteGroupsRequest(groups_names=[tell.group("empty")])
    tell.call(gone, DeleteGroupsResponse, 1)
    tell.ask("one is deleted", ListGroupsRequest())


@scenario("list_groups", first=BY_STATE)
def by_state(tell: Teller) -> None:
    make_groups(tell)
    for states in (
        ["Stable"],
        ["Empty"],
        ["PreparingRebalance", "CompletingRebalance"],
        ["Dead"],
        ["Assigning"],
        ["Reconciling"],
        ["stable", "EMPTY"],
        ["completingrebalance"],
        ["Unknown"],
        ["nonsense", "Stable"],
        [""],
    ):
        tell.ask(" and ".join(states) or "nothing", ListGroupsRequest(states_filter=states))


@scenario("list_groups", first=BY_TYPE)
def by_type(tell: Teller) -> None:
    make_groups(tell)
    for types in (
        ["classic"],
        ["consumer"],
        ["classic", "consumer"],
        ["Consumer"],
        ["CLASSIC"],
        ["share"],
        ["streams"],
        ["unknown"],
        ["nonsense"],
        [""],
    ):
        tell.ask(" and ".join(types) or "nothing", ListGroupsRequest(types_filter=types))
    both = ListGroupsRequest(states_filter=["Stable"], types_filter=["consumer"])
    tell.ask("by both", both)


@scenario("list_groups", first=BY_STATE)
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "list_groups", b"")
    tell.ask_raw("half a body", "list_groups", b"\x02\x09a")
