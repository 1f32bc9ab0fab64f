"""The broker under test: `ottla serve` over a wrapped store, in a forked process."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from application.partitions import init_producer_id, trimming
from application.state import commits
from application.topics import dropping
from domain.configs.topic import TopicConfig
from domain.partitions.active_segment import ActiveSegment
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from tests.crash import faults
from tests.crash.passages import (
    Passages,
    end_in_two_commits,
    name_the_database,
    name_the_rest,
    wrapped_opening,
)

#: Limits of megabytes or hundreds of batches in production: small here, so that runs reach them.
SMALL_SNAPSHOT_BYTES = 16 * 1024
SMALL_BLOCK_OF_IDS = 2
#: Below the smallest `segment.bytes`: of files only.
SMALL_SEGMENT_BYTES = 16 * 1024
SMALL_TAIL_BYTES = 16 * 1024
#: Many are larger, some are not; objects of less than 512 bytes are joined.
LARGE_COMMIT_BYTES = 200


@dataclass(frozen=True)
class Plan:
    """One run of the broker; `point` and the passage at which it dies."""

    arguments: list[str] = field(default_factory=list)
    log: str = os.devnull
    point: str | None = None
    passage: int = 1
    moment_us: int = 0
    map_size_bytes: int | None = None
    #: None: the production value.
    slice_batches: int | None = None
    segment_bytes: int = SMALL_SEGMENT_BYTES
    #: Of files: one of so many commits fails.
    fails: int | None = None
    small: bool = True
    #: As if partitions of each transaction had to be loaded before its end.
    ends_in_two_commits: bool = False
    fault: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def run(plan: Plan) -> int:
    from interfaces.main.__main__ import main
    from interfaces.main.container.adapters import Adapters
    from interfaces.main.container.declarative import providers

    passages = Passages(plan.point, plan.passage, plan.moment_us)
    name_the_rest(passages)
    if any("offsets=sqlite" in one for one in plan.arguments):
        name_the_database(passages)
    if any(one.startswith("postgresql://") for one in plan.arguments):
        from tests.crash.postgresql_passages import name_postgresql

        name_postgresql(passages)
        if plan.small:
            make_tails_small()
    if any(one.startswith("files://") for one in plan.arguments):
        from tests.crash.file_passages import fail_commits, make_copies_small, name_the_files

        if plan.fails is not None:
            fail_commits(plan.fails)
        name_the_files(passages)
        make_segments_small(plan.segment_bytes)
        if plan.small:
            make_copies_small()
    if plan.small:
        make_small()
    if plan.slice_batches is not None:
        dropping.BATCHES_PER_COMMIT = trimming.BATCHES_PER_COMMIT = plan.slice_batches
    if plan.map_size_bytes is not None:
        # As with a pass that is larger than the free space: growing in time does not help.
        LmdbEnvironment.grow_in_time = lambda self: None  # type: ignore[method-assign]
    if plan.ends_in_two_commits:
        end_in_two_commits()
    if plan.fault is not None:
        faults.fault(plan.fault)()
    Adapters.storage.override(
        providers.Singleton(
            wrapped_opening(passages, plan.map_size_bytes),
            Adapters.storage_url,
            Adapters.flush,
            Adapters.to_loop,
            Adapters.joining,
        )
    )
    return main(plan.arguments)


def make_small() -> None:
    commits.SNAPSHOT_INTERVAL_BYTES = SMALL_SNAPSHOT_BYTES  # type: ignore[attr-defined]
    init_producer_id.BLOCK_SIZE = SMALL_BLOCK_OF_IDS


def make_tails_small() -> None:
    """What is dead by a tenth is moved, or written to a new object."""
    from infrastructure.storage.postgresql import moving, object_commits, opening, tails
    from infrastructure.storage.postgresql.tails import Tails

    opening.joined = partial(opening.joined, tail_bytes=SMALL_TAIL_BYTES)
    moving.MOVED_BYTES = SMALL_TAIL_BYTES // 4
    object_commits.LARGE_BYTES = LARGE_COMMIT_BYTES
    object_commits.RETRY_S = 1.0
    tails._SMALL_OBJECTS = 10
    look = Tails._look

    def eager(self: Tails) -> None:
        look(self)
        for number, tail in list(self._tails.items()):
            if number == self.current or not self._runs.are_in(number):
                continue
            if tail.written_bytes and tail.live_part < 0.9:
                if tail.object is None:
                    self.sparse = number
                elif self.local_bytes is not None:
                    self.to_seal = (number,)

    Tails._look = eager  # type: ignore[method-assign]


def make_segments_small(size_bytes: int) -> None:
    limit = ActiveSegment.limit

    def small(self: ActiveSegment, config: TopicConfig) -> None:
        limit(self, config)
        self.ends_at_bytes = self._begins_at_bytes + size_bytes

    ActiveSegment.limit = small  # type: ignore[method-assign]
