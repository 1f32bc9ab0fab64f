"""A broker that serves requests while it loads committed offsets."""

from __future__ import annotations

from typing import Any

import pytest

from application.ports.offset_repository import OffsetRepository
from infrastructure.storage.memory.store import MemoryStore
from tests.fakes.broker import FakeBroker
from tests.fakes.classic_members import Member, stable
from tests.fakes.client import FakeKafka
from tests.fakes.mixed_group import Modern
from tests.fakes.offsets import HeldOffsetRepository


class SlowBroker(FakeBroker):
    """Its offsets are loaded by `held`."""

    def __init__(self, store: MemoryStore) -> None:
        self.held = HeldOffsetRepository()
        super().__init__(store)

    def _offsets(self) -> OffsetRepository:
        return self.held

    def members(self, group_id: str) -> int:
        group: Any = self.broker.groups.registry.find(group_id)
        return len(group.members)


@pytest.fixture
def slow() -> SlowBroker:
    """Restarted with a group of each kind, with one member each."""
    kafka = FakeKafka()
    kafka.topic("t", 2)
    stable(kafka, Member(kafka, "classic"))
    Modern(kafka).join()
    broker = SlowBroker(kafka.store)
    broker.broker.start_upkeep()
    return broker


def test_sessions_start_when_offsets_are_loaded(slow: SlowBroker) -> None:
    slow.scheduler.advance(60_000)
    slow.held.finish_loading()
    slow.scheduler.advance(9999)
    assert (slow.members("classic"), slow.members("g")) == (1, 1)
    slow.scheduler.advance(45_000 - 9999)
    assert (slow.members("classic"), slow.members("g")) == (0, 0)


def test_a_broker_that_stops_before_offsets_are_loaded_starts_no_timer(slow: SlowBroker) -> None:
    slow.broker.stop_upkeep()
    timers = len(slow.scheduler.timers)
    slow.held.finish_loading()
    assert len(slow.scheduler.timers) == timers
