"""confluent-kafka (librdkafka) with `group.protocol=consumer`: the broker assigns."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    StaticStories,
    run_with,
)

UNIFORM, RANGE = (
    Flavour("confluent", {"protocol": "consumer", "assignor": assignor})
    for assignor in ("uniform", "range")
)


class TestOneMember(PositionStories, RestartStories):
    flavour = run_with(UNIFORM)


class TestMembers(SharingStories, StaticStories):
    flavour = run_with(UNIFORM, long=(RANGE,))


class TestOffsetsInSQLite(RestartStories):
    flavour = run_with(UNIFORM)
    arguments = ("--set", "offsets=sqlite://")
