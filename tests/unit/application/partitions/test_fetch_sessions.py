"""KIP-227; the numbers are those of the table in application/partitions/fetch_sessions.py."""

from __future__ import annotations

from itertools import count

import pytest

from application.partitions.fetch_query import FetchedPartition, FetchItem
from application.partitions.fetch_sessions import (
    EVICTION_MS,
    MAX_EPOCH,
    FetchContext,
    FetchSessions,
    ItemKey,
)
from domain.errors import (
    FetchSessionNotFound,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpoch,
    StorageFailed,
    UnknownTopicId,
)
from domain.partitions.leader_epochs import EpochEnd
from tests.fakes.clock import FakeClock

NO_ID = bytes(16)


def item(index: int, name: str = "t", offset: int = 0) -> FetchItem:
    return FetchItem(name, NO_ID, index, offset, 1000, -1)


def got(
    one: FetchItem, watermark: int = 0, records: bytes = b"", start: int = 0
) -> FetchedPartition:
    return FetchedPartition(one, None, watermark, watermark, start, records)


def indexes(items: list[FetchItem]) -> list[int]:
    return [one.index for one in items]


class Sessions:
    def __init__(self, slots: int = 3, partitions: int = 100) -> None:
        self.clock = FakeClock()
        ids = count(100)
        self.sessions = FetchSessions(self.clock, lambda: next(ids), slots, partitions)

    def begin(
        self,
        session_id: int,
        epoch: int,
        *items: FetchItem,
        forgotten: list[ItemKey] | None = None,
        by_id: bool = False,
    ) -> FetchContext:
        return self.sessions.begin(session_id, epoch, list(items), forgotten or [], by_id)

    def open(self, *items: FetchItem) -> int:
        context = self.begin(0, 0, *(items or (item(0),)))
        context.choose([got(one) for one in context.items])
        return context.session_id


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.mark.parametrize(("epoch", "session_id"), [(-1, 0), (0, 100)])
def test_the_first_fetch_is_full_and_epoch_zero_opens_a_session(
    sessions: Sessions, epoch: int, session_id: int
) -> None:
    context = sessions.begin(0, epoch, item(0), item(1))
    assert (indexes(context.items), context.session_id) == ([0, 1], session_id)
    fetched = [got(one) for one in context.items]
    assert context.choose(fetched) == fetched
    assert len(sessions.sessions) == epoch + 1


@pytest.mark.parametrize(("epoch", "next_id"), [(-1, 0), (0, 101)])
def test_epochs_minus_one_and_zero_close_the_session(
    sessions: Sessions, epoch: int, next_id: int
) -> None:
    session_id = sessions.open()
    context = sessions.begin(session_id, epoch, item(5))
    assert (indexes(context.items), context.session_id) == ([5], next_id)
    assert len(sessions.sessions) == epoch + 1
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(session_id, 1)


# ---- errors


def test_an_unknown_session_is_refused(sessions: Sessions) -> None:
    for session_id in (0, 999):
        with pytest.raises(FetchSessionNotFound):
            sessions.begin(session_id, 1, item(0))


@pytest.mark.parametrize("epoch", [2, 3, MAX_EPOCH, -2])
def test_any_epoch_but_the_next_is_refused(sessions: Sessions, epoch: int) -> None:
    session_id = sessions.open()
    with pytest.raises(InvalidFetchSessionEpoch):
        sessions.begin(session_id, epoch)
    assert indexes(sessions.begin(session_id, 1).items) == [0]
    with pytest.raises(InvalidFetchSessionEpoch):
        sessions.begin(session_id, 1)


def test_a_session_uses_topic_ids_always_or_never(sessions: Sessions) -> None:
    session_id = sessions.open()
    with pytest.raises(FetchSessionTopicIdError):
        sessions.begin(session_id, 1, by_id=True)
    sessions.begin(session_id, 1)


def test_the_epoch_after_the_largest_is_one(sessions: Sessions) -> None:
    session_id = sessions.open()
    sessions.sessions._by_id[session_id].epoch = MAX_EPOCH
    sessions.begin(session_id, MAX_EPOCH)
    sessions.begin(session_id, 1)


def test_partitions_are_added_changed_and_forgotten(sessions: Sessions) -> None:
    session_id = sessions.open(item(0), item(1))
    forgotten = [("t", 1), ("t", 9), ("unknown", 0)]
    context = sessions.begin(session_id, 1, item(2), item(0, offset=50), forgotten=forgotten)
    assert [(one.index, one.offset) for one in context.items] == [(0, 50), (2, 0)]
    assert indexes(sessions.begin(session_id, 2).items) == [0, 2]


def test_a_session_without_partitions_is_closed(sessions: Sessions) -> None:
    session_id = sessions.open(item(0))
    context = sessions.begin(session_id, 1, forgotten=[("t", 0)])
    assert (context.items, context.session_id) == ([], 0)
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(session_id, 2)


# ---- returned partitions


def chosen(
    sessions: Sessions, session_id: int, epoch: int, *fetched: FetchedPartition
) -> list[int]:
    return [one.item.index for one in sessions.begin(session_id, epoch).choose(list(fetched))]


def test_only_partitions_with_changes_are_returned(sessions: Sessions) -> None:
    a, b, c, d = (item(index) for index in range(4))
    session_id = sessions.open(a, b, c, d)
    assert chosen(sessions, session_id, 1, got(a), got(b), got(c), got(d)) == []
    changed = got(b, watermark=4), got(d, start=7)
    assert chosen(sessions, session_id, 2, got(a), got(c, records=b"x"), *changed) == [2, 1, 3]
    assert chosen(sessions, session_id, 3, got(a), got(c), *changed) == []


def test_a_partition_that_is_forgotten_and_added_again_is_returned(sessions: Sessions) -> None:
    a, b = item(0), item(1)
    session_id = sessions.open(a, b)
    sessions.begin(session_id, 1, forgotten=[("t", 1)]).choose([got(a)])
    context = sessions.begin(session_id, 2, b)
    assert [one.item.index for one in context.choose([got(a), got(b)])] == [1]


def test_an_error_is_returned_each_time_and_then_its_end(sessions: Sessions) -> None:
    a = item(0)
    session_id = sessions.open(a)
    failed = FetchedPartition(a, UnknownTopicId("gone"))
    assert chosen(sessions, session_id, 1, failed) == [0]
    assert chosen(sessions, session_id, 2, failed) == [0]
    assert chosen(sessions, session_id, 3, got(a)) == [0]
    assert chosen(sessions, session_id, 4, got(a)) == []


def test_a_diverging_epoch_is_returned_each_time(sessions: Sessions) -> None:
    a = item(0)
    session_id = sessions.open(a, item(1))
    diverging = FetchedPartition(a, diverging_epoch=EpochEnd(0, 3))
    assert chosen(sessions, session_id, 1, diverging) == [0]
    assert chosen(sessions, session_id, 2, diverging) == [0]


def test_a_partition_with_records_is_the_last_in_the_next_fetch(sessions: Sessions) -> None:
    """So that a partition that always has records does not use up the limit of each fetch."""
    a, b, c = item(0), item(1), item(2)
    session_id = sessions.open(a, b, c)
    chosen(sessions, session_id, 1, got(a, records=b"x"), got(b), got(c))
    assert indexes(sessions.begin(session_id, 2).items) == [1, 2, 0]


def test_a_partition_with_an_error_is_the_last_in_the_next_fetch(sessions: Sessions) -> None:
    """So that those that cannot be read are not the only ones that are tried."""
    a, b, c = item(0), item(1), item(2)
    session_id = sessions.open(a, b, c)
    failed = FetchedPartition(a, StorageFailed("no bucket"))
    chosen(sessions, session_id, 1, failed, got(b), got(c))
    assert indexes(sessions.begin(session_id, 2).items) == [1, 2, 0]


# ---- the cache


def test_a_fetch_without_a_free_slot_gets_no_session(sessions: Sessions) -> None:
    opened = [sessions.open() for _ in range(3)]
    context = sessions.begin(0, 0, item(0))
    assert (indexes(context.items), context.session_id) == ([0], 0)
    for session_id in opened:
        sessions.begin(session_id, 1)


def test_an_idle_session_is_evicted(sessions: Sessions) -> None:
    first, second, third = (sessions.open() for _ in range(3))
    sessions.clock.advance(EVICTION_MS - 1)
    sessions.begin(first, 1)
    assert sessions.open() == 0
    sessions.clock.advance(1)
    assert sessions.open() > 0
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(second, 1)
    sessions.begin(third, 1)
    sessions.begin(first, 2)


def test_with_no_slots_there_are_no_sessions() -> None:
    assert Sessions(slots=0).open() == 0


def test_session_ids_are_unique() -> None:
    ids = iter([0, 7, 7, 0, 8])
    sessions = FetchSessions(FakeClock(), lambda: next(ids), 10, 10)
    given = [sessions.begin(0, 0, [item(0)], [], False).session_id for _ in range(2)]
    assert given == [7, 8]


# ---- partitions of all sessions together


def test_a_fetch_with_too_many_partitions_gets_no_session() -> None:
    sessions = Sessions(partitions=3)
    first = sessions.open(item(0), item(1))
    assert sessions.open(item(0), item(1)) == 0
    assert sessions.open(item(2)) > 0
    sessions.begin(first, -1)
    assert sessions.open(item(0), item(1)) > 0


def test_idle_sessions_are_evicted_for_partitions() -> None:
    sessions = Sessions(partitions=3)
    sessions.open(item(0))
    sessions.open(item(0), item(1))
    sessions.clock.advance(EVICTION_MS)
    assert sessions.open(item(0), item(1), item(2)) > 0
    assert len(sessions.sessions) == 1


def test_no_session_is_evicted_for_more_partitions_than_the_limit() -> None:
    sessions = Sessions(partitions=3)
    idle = sessions.open(item(0))
    sessions.clock.advance(EVICTION_MS)
    assert sessions.open(*map(item, range(4))) == 0
    sessions.begin(idle, 1)


def test_a_session_that_exceeds_the_partition_limit_ends() -> None:
    """Its client then requests a new session, and gets none."""
    sessions = Sessions(partitions=3)
    first, second = sessions.open(item(0)), sessions.open(item(0))
    sessions.begin(first, 1, item(1))
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(second, 1, item(1), item(2))
    sessions.begin(first, 2, forgotten=[("t", 0)])
    assert sessions.open(item(0), item(1)) > 0


def test_partitions_are_counted_once() -> None:
    sessions = Sessions(partitions=2)
    only = sessions.open(item(0), item(1))
    for epoch in range(1, 6):
        sessions.begin(only, epoch, item(0, offset=epoch), forgotten=[("t", 7)])
    sessions.begin(only, 6, forgotten=[("t", 0), ("t", 1)])
    assert sessions.open(item(0), item(1)) > 0
