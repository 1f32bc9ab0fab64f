"""Limits of the broker that are small in a world: many steps, many commits."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from uuid import UUID

from application.background import runner
from application.groups import expiry, offset_cleanup
from application.partitions import (
    init_producer_id,
    list_offsets,
    producer_expiry,
    retention,
    trimming,
)
from application.state import commits
from application.topics import dropping, internal_topics
from domain.partitions import partition

if TYPE_CHECKING:
    from tests.simulation.world import World


def small_steps(world: World) -> list[Any]:
    """As context managers."""
    random = world.random
    return [
        patch.object(commits, "SNAPSHOT_INTERVAL_BYTES", random.choice((1, 30_000, 1 << 30))),
        patch.object(init_producer_id, "BLOCK_SIZE", random.choice((1, 2, 1000))),
        patch.object(partition, "INDEX_INTERVAL_BYTES", random.choice((1, 500, 1 << 16))),
        patch.object(dropping, "BATCHES_PER_COMMIT", random.choice((1, 3, 256))),
        patch.object(trimming, "BATCHES_PER_COMMIT", world.trimmed_at_once),
        patch.object(dropping, "ROWS_PER_COMMIT", random.choice((1, 1000))),
        patch.object(producer_expiry, "ROWS_PER_COMMIT", random.choice((1, 2, 1000))),
        patch.object(offset_cleanup, "ROWS_PER_WRITE", world.group_random.choice((1, 100))),
        patch.object(internal_topics, "RECORDS_PER_COMMIT", world.group_random.choice((1, 100))),
        patch.object(expiry, "ROWS_PER_STEP", world.group_random.choice((1, 100))),
        patch.object(list_offsets, "HEADERS_AT_ONCE", random.choice((1, 3, 256))),
        patch.object(retention, "HEADERS_PER_STEP", world.limits.headers_at_once),
        patch.object(retention, "PARTITIONS_PER_COMMIT", world.limits.partitions_at_once),
        patch.object(runner, "STEPS_PER_SLICE", random.choice((1, 5, 1000))),
        patch.object(uuid, "uuid4", lambda: UUID(int=random.getrandbits(128), version=4)),
    ]
