"""A store whose reads happen elsewhere, as in PostgreSQL: none may wait on the loop."""

from __future__ import annotations

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from tests.fakes.broker import FakeBroker, FlakyLogStore


def restarted_cold(fake: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> FakeBroker:
    """Another broker, which has used no partition yet."""
    again = fake.restarted()
    make_cold(again, monkeypatch)
    return again


def restarted_without_reads(fake: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> FakeBroker:
    """Another broker, whose store does not respond to reads."""

    def never(
        log: FlakyLogStore, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        assert not waits, "the loop waits for a read"
        raise NotInMemory(Pending())

    monkeypatch.setattr(FlakyLogStore, "headers", never)
    return fake.restarted()


def make_cold(fake: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of each partition is loaded when it is asked for."""
    headers, asked = FlakyLogStore.headers, set[int]()

    def loading(
        log: FlakyLogStore, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        if partition_id not in asked:
            assert not waits, "the loop waits for a read"
            asked.add(partition_id)
            pending: Pending[None] = Pending()
            fake.scheduler.soon(lambda: pending.resolve(None))
            raise NotInMemory(pending)
        return headers(log, partition_id, offset, limit, waits)

    monkeypatch.setattr(FlakyLogStore, "headers", loading)
