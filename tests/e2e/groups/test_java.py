"""The Java client in groups, in both protocols."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    StaticStories,
    told_by,
)

COOPERATIVE, RANGE, UNIFORM, BROKERS_RANGE = (
    Flavour("java", {"protocol": protocol, "assignor": assignor})
    for protocol, assignor in (
        ("classic", "CooperativeSticky"),
        ("classic", "Range"),
        ("consumer", "uniform"),
        ("consumer", "range"),
    )
)


class TestOneMember(PositionStories, RestartStories):
    flavour = told_by(COOPERATIVE, UNIFORM)


class TestMembers(SharingStories, StaticStories):
    flavour = told_by(COOPERATIVE, RANGE, UNIFORM, BROKERS_RANGE)
