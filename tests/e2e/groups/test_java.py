"""The Java client in groups, in both protocols."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    StaticStories,
    run_with,
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
    flavour = run_with(UNIFORM, long=(COOPERATIVE,))


class TestMembers(SharingStories, StaticStories):
    flavour = run_with(COOPERATIVE, UNIFORM, long=(RANGE, BROKERS_RANGE))
