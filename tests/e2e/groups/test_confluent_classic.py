"""confluent-kafka (librdkafka) in classic groups, with each of its assignors."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    StaticStories,
    run_with,
)

RANGE, ROUNDROBIN, COOPERATIVE = (
    Flavour("confluent", {"protocol": "classic", "assignor": assignor})
    for assignor in ("range", "roundrobin", "cooperative-sticky")
)


class TestOneMember(PositionStories, RestartStories):
    flavour = run_with(COOPERATIVE)


class TestMembers(SharingStories, StaticStories):
    flavour = run_with(COOPERATIVE, long=(RANGE, ROUNDROBIN))
