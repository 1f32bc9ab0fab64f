"""Only the groups that a scenario made are compared."""

from __future__ import annotations

from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from interfaces.kafka.wire.messages.list_groups import ListGroupsRequest
from tests.oracle.groups import JOIN, committed, consumer_member, join, joined, pending, stable
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

BY_STATE, BY_TYPE = 4, 5


def make_groups(run: ScenarioRun) -> None:
    """One in each state, and one of the other kind with and without a member."""
    topic = run.topic("a")
    committed(run, run.group("empty"), topic, 1)
    pending(run, run.group("pending"))
    joined(run, run.group("completing"))
    stable(run, run.group("stable"), protocol_type="connect")
    preparing = run.group("preparing")
    stable(run, preparing)
    run.begin(join(preparing, pending(run, preparing)), "second", JOIN)
    run.wait_for_group(preparing, "PreparingRebalance", 2)
    consumer_member(run, run.group("modern"), "m", topic.name)


@scenario("list_groups")
def all_groups(run: ScenarioRun) -> None:
    run.send("no groups", ListGroupsRequest())
    make_groups(run)
    run.send("request", ListGroupsRequest())
    gone = DeleteGroupsRequest(groups_names=[run.group("empty")])
    run.call(gone, DeleteGroupsResponse, 1)
    run.send("after a deletion", ListGroupsRequest())


@scenario("list_groups", first=BY_STATE)
def by_state(run: ScenarioRun) -> None:
    make_groups(run)
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
        run.send(" and ".join(states) or "nothing", ListGroupsRequest(states_filter=states))


@scenario("list_groups", first=BY_TYPE)
def by_type(run: ScenarioRun) -> None:
    make_groups(run)
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
        run.send(" and ".join(types) or "nothing", ListGroupsRequest(types_filter=types))
    both = ListGroupsRequest(states_filter=["Stable"], types_filter=["consumer"])
    run.send("by state and type", both)


@scenario("list_groups", first=BY_STATE)
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "list_groups", b"")
    run.send_raw("half a body", "list_groups", b"\x02\x09a")
