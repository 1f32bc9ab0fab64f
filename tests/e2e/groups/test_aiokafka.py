"""aiokafka in groups, with each of its assignors."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    StaticStories,
    run_with,
)

RANGE, ROUNDROBIN, STICKY = (
    Flavour("aiokafka", {"assignor": assignor}) for assignor in ("range", "roundrobin", "sticky")
)


class TestOneMember(PositionStories, RestartStories):
    flavour = run_with(RANGE)


class TestMembers(SharingStories, StaticStories):
    flavour = run_with(STICKY, long=(RANGE, ROUNDROBIN))
