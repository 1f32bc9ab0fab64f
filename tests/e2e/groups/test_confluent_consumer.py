"""confluent-kafka (librdkafka) with `group.protocol=consumer`: the broker assigns."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    StaticStories,
    told_by,
)

UNIFORM, RANGE = (
    Flavour("confluent", {"protocol": "consumer", "assignor": assignor})
    for assignor in ("uniform", "range")
)


class TestOneMember(PositionStories, RestartStories):
    flavour = told_by(UNIFORM)


class TestMembers(SharingStories, StaticStories):
    flavour = told_by(UNIFORM, RANGE)


class TestOffsetsInSQLite(RestartStories):
    flavour = told_by(UNIFORM)
    arguments = ("--set", "offsets=sqlite://")
