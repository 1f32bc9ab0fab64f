"""KafkaJS in groups, as its users run it: each message, and each batch."""

from __future__ import annotations

from tests.e2e.groups.members import Flavour
from tests.e2e.groups.stories import (
    PositionStories,
    RestartStories,
    SharingStories,
    run_with,
)

EACH_MESSAGE, EACH_BATCH = (
    Flavour("kafkajs", {"handler": handler}) for handler in ("each_message", "each_batch")
)


class TestOneMember(PositionStories):
    sees_new_topics = False
    flavour = run_with(EACH_MESSAGE, long=(EACH_BATCH,))


class TestMembers(SharingStories, RestartStories):
    flavour = run_with(EACH_BATCH, long=(EACH_MESSAGE,))
