"""aiokafka in groups, with each of its assignors."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    StaticStories,
    told_by,
)

RANGE, ROUNDROBIN, STICKY = (
    Flavour("aiokafka", {"assignor": assignor}) for assignor in ("range", "roundrobin", "sticky")
)


class TestOneMember(PositionStories, RestartStories):
    flavour = told_by(RANGE)


class TestMembers(SharingStories, StaticStories):
    flavour = told_by(RANGE, ROUNDROBIN, STICKY)
