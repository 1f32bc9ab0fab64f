"""Actions and pauses, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from random import Random
from typing import NamedTuple

SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS = 100, 500
STAGES = 3
#: Members of each stage at the start.
MEMBERS_AT_FIRST = 2


class Action(Enum):
    JOIN = "join"
    #: With a group.instance.id: a free old one, or a new one.
    JOIN_STATIC = "join, static"
    LEAVE = "leave"
    #: A process, with all the members that it hosts.
    KILL = "kill"


class Step(NamedTuple):
    pause_ms: int
    action: Action
    stage: int
    #: Chooses one of the members or processes of that time.
    chance: float


WEIGHTS = {Action.JOIN: 45, Action.JOIN_STATIC: 20, Action.LEAVE: 25, Action.KILL: 10}


def schedule(seed: int, seconds: float) -> Iterator[Step]:
    chance = Random(seed)
    for stage in range(STAGES):
        for _ in range(MEMBERS_AT_FIRST):
            yield Step(0, Action.JOIN, stage, chance.random())
    passed_ms = 0
    while passed_ms < seconds * 1_000:
        pause_ms = chance.randint(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS)
        passed_ms += pause_ms
        [action] = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
        yield Step(pause_ms, action, chance.randrange(STAGES), chance.random())
