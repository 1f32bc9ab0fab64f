"""The states of a classic group, and the table of their transitions.

`next_state` uses this table only, and docs/internals/groups.md shows it.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class State(Enum):
    """With Kafka's names."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class Event(Enum):
    MEMBERS_CHANGED = "a member joins, changes or leaves"
    GENERATION_STARTED = "all members have joined"
    NO_MEMBERS_LEFT = "no member is left"
    ASSIGNED = "the leader sends the assignment"
    RESTORED_UNASSIGNED = "loaded from the store, not assigned"
    RESTORED_ASSIGNED = "loaded from the store, or downgraded"
    DELETED = "deleted, or upgraded"


class Transition(NamedTuple):
    source: State
    event: Event
    target: State


TRANSITIONS: tuple[Transition, ...] = (
    Transition(State.EMPTY, Event.MEMBERS_CHANGED, State.PREPARING_REBALANCE),
    Transition(State.STABLE, Event.MEMBERS_CHANGED, State.PREPARING_REBALANCE),
    Transition(State.COMPLETING_REBALANCE, Event.MEMBERS_CHANGED, State.PREPARING_REBALANCE),
    Transition(State.PREPARING_REBALANCE, Event.GENERATION_STARTED, State.COMPLETING_REBALANCE),
    Transition(State.PREPARING_REBALANCE, Event.NO_MEMBERS_LEFT, State.EMPTY),
    Transition(State.COMPLETING_REBALANCE, Event.ASSIGNED, State.STABLE),
    Transition(State.EMPTY, Event.RESTORED_UNASSIGNED, State.COMPLETING_REBALANCE),
    Transition(State.EMPTY, Event.RESTORED_ASSIGNED, State.STABLE),
    Transition(State.EMPTY, Event.DELETED, State.DEAD),
    Transition(State.PREPARING_REBALANCE, Event.DELETED, State.DEAD),
    Transition(State.COMPLETING_REBALANCE, Event.DELETED, State.DEAD),
    Transition(State.STABLE, Event.DELETED, State.DEAD),
)

_NEXT = {(one.source, one.event): one.target for one in TRANSITIONS}


def next_state(state: State, event: Event) -> State:
    target = _NEXT.get((state, event))
    assert target is not None, f"{event.name} in {state.name}"
    return target
