"""The states of a classic group, and TRANSITIONS: THE table of how it gets from one to another.

The group moves by this table alone (`next_state`), and docs/groups.md draws it.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class State(Enum):
    """As Kafka prints them."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class Event(Enum):
    MEMBERS_CHANGED = "a member comes, changes or goes"
    GENERATION_STARTED = "who is to join has joined"
    NO_MEMBERS_LEFT = "nobody is left"
    ASSIGNED = "the leader hands in the assignment"
    RESTORED_UNASSIGNED = "read from the store, before its assignment"
    RESTORED_ASSIGNED = "read from the store, or taken over from the consumer protocol"
    DELETED = "deleted, or taken over by the consumer protocol"


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
