"""KIP-227; the numbers are those of the table in application/partitions/fetch_sessions.py."""

from __future__ import annotations

from itertools import count

import pytest

from application.partitions.fetch import FetchedPartition, FetchItem
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
    UnknownTopicId,
)
from tests.fakes.clock import FakeClock

NO_ID = bytes(16)


def item(index: int, name: str = "t", offset: int = 0) -> FetchItem:
    return FetchItem(name, NO_ID, index, offset, 1000, -1)


def got(one: FetchItem, watermark: int = 0, records: bytes = b"") -> FetchedPartition:
    return FetchedPartition(one, None, watermark, watermark, 0, records)


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


# ---- the table


def test_epoch_minus_one_without_a_session_opens_nothing(sessions: Sessions) -> None:
    context = sessions.begin(0, -1, item(0), item(1))
    assert (indexes(context.items), context.session_id) == ([0, 1], 0)
    fetched = [got(one) for one in context.items]
    assert context.choose(fetched) == fetched
    assert len(sessions.sessions) == 0


def test_epoch_minus_one_closes_the_session(sessions: Sessions) -> None:
    session_id = sessions.open()
    context = sessions.begin(session_id, -1, item(5))
    assert (indexes(context.items), context.session_id) == ([5], 0)
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(session_id, 1)


def test_epoch_minus_one_of_an_unknown_session_is_a_full_fetch(sessions: Sessions) -> None:
    assert indexes(sessions.begin(999, -1, item(5)).items) == [5]


def test_epoch_zero_opens_a_session_and_tells_everything(sessions: Sessions) -> None:
    context = sessions.begin(0, 0, item(0), item(1))
    assert context.session_id == 100
    fetched = [got(one) for one in context.items]
    assert context.choose(fetched) == fetched
    assert len(sessions.sessions) == 1


def test_epoch_zero_closes_the_session_and_opens_another(sessions: Sessions) -> None:
    session_id = sessions.open()
    assert sessions.begin(session_id, 0, item(0)).session_id == session_id + 1
    assert len(sessions.sessions) == 1
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(session_id, 1)


def test_an_epoch_above_zero_goes_on_with_the_session(sessions: Sessions) -> None:
    session_id = sessions.open(item(0), item(1))
    for epoch in (1, 2, 3):
        context = sessions.begin(session_id, epoch)
        assert (indexes(context.items), context.session_id) == ([0, 1], session_id)


# ---- what does not fit


def test_an_unknown_session_is_refused(sessions: Sessions) -> None:
    for session_id in (0, 999):
        with pytest.raises(FetchSessionNotFound):
            sessions.begin(session_id, 1, item(0))


@pytest.mark.parametrize("epoch", [2, 3, MAX_EPOCH, -2])
def test_another_epoch_than_the_next_is_refused(sessions: Sessions, epoch: int) -> None:
    session_id = sessions.open()
    with pytest.raises(InvalidFetchSessionEpoch):
        sessions.begin(session_id, epoch)
    assert indexes(sessions.begin(session_id, 1).items) == [0]
    with pytest.raises(InvalidFetchSessionEpoch):
        sessions.begin(session_id, 1)


def test_a_session_names_topics_always_by_id_or_never(sessions: Sessions) -> None:
    session_id = sessions.open()
    with pytest.raises(FetchSessionTopicIdError):
        sessions.begin(session_id, 1, by_id=True)
    sessions.begin(session_id, 1)


def test_after_the_largest_epoch_comes_one(sessions: Sessions) -> None:
    session_id = sessions.open()
    sessions.sessions._by_id[session_id].epoch = MAX_EPOCH
    sessions.begin(session_id, MAX_EPOCH)
    sessions.begin(session_id, 1)


# ---- changing what is followed


def test_partitions_come_and_change_and_go(sessions: Sessions) -> None:
    session_id = sessions.open(item(0), item(1))
    context = sessions.begin(session_id, 1, item(2), item(0, offset=50), forgotten=[("t", 1)])
    assert [(one.index, one.offset) for one in context.items] == [(0, 50), (2, 0)]
    assert indexes(sessions.begin(session_id, 2).items) == [0, 2]


def test_forgetting_what_is_not_followed_is_no_harm(sessions: Sessions) -> None:
    session_id = sessions.open(item(0))
    context = sessions.begin(session_id, 1, forgotten=[("t", 9), ("unknown", 0)])
    assert indexes(context.items) == [0]


def test_a_session_without_partitions_is_closed(sessions: Sessions) -> None:
    session_id = sessions.open(item(0))
    context = sessions.begin(session_id, 1, forgotten=[("t", 0)])
    assert (context.items, context.session_id) == ([], 0)
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(session_id, 2)


def test_a_session_is_opened_for_no_partitions_too_as_kafka_does(sessions: Sessions) -> None:
    assert sessions.begin(0, 0).session_id != 0
    assert len(sessions.sessions) == 1


# ---- what is told


def news(sessions: Sessions, session_id: int, epoch: int, *fetched: FetchedPartition) -> list[int]:
    chosen = sessions.begin(session_id, epoch).choose(list(fetched))
    return [one.item.index for one in chosen]


def test_only_what_is_new_is_told(sessions: Sessions) -> None:
    a, b, c = item(0), item(1), item(2)
    session_id = sessions.open(a, b, c)
    assert news(sessions, session_id, 1, got(a), got(b), got(c)) == []
    assert news(sessions, session_id, 2, got(a), got(b, watermark=4), got(c, records=b"x")) == [
        1,
        2,
    ]
    assert news(sessions, session_id, 3, got(a), got(b, watermark=4), got(c)) == []


def test_a_new_log_start_is_told(sessions: Sessions) -> None:
    a = item(0)
    session_id = sessions.open(a)
    moved = FetchedPartition(a, None, 0, 0, 7)
    assert news(sessions, session_id, 1, moved) == [0]
    assert news(sessions, session_id, 2, moved) == []


def test_a_partition_that_was_added_is_told_of_once(sessions: Sessions) -> None:
    a, b = item(0), item(1)
    session_id = sessions.open(a)
    context = sessions.begin(session_id, 1, b)
    assert [one.item.index for one in context.choose([got(a), got(b)])] == [1]
    assert news(sessions, session_id, 2, got(a), got(b)) == []


def test_a_partition_that_was_forgotten_and_added_again_is_told_of(sessions: Sessions) -> None:
    a, b = item(0), item(1)
    session_id = sessions.open(a, b)
    sessions.begin(session_id, 1, forgotten=[("t", 1)]).choose([got(a)])
    context = sessions.begin(session_id, 2, b)
    assert [one.item.index for one in context.choose([got(a), got(b)])] == [1]


def test_an_error_is_told_each_time_and_its_end_as_well(sessions: Sessions) -> None:
    a = item(0)
    session_id = sessions.open(a)
    failed = FetchedPartition(a, UnknownTopicId("gone"))
    assert news(sessions, session_id, 1, failed) == [0]
    assert news(sessions, session_id, 2, failed) == [0]
    assert news(sessions, session_id, 3, got(a)) == [0]
    assert news(sessions, session_id, 4, got(a)) == []


def test_who_got_records_is_last_in_line_next_time(sessions: Sessions) -> None:
    """So that a partition that is always full does not take all room for ever."""
    a, b, c = item(0), item(1), item(2)
    session_id = sessions.open(a, b, c)
    news(sessions, session_id, 1, got(a, records=b"x"), got(b), got(c))
    assert indexes(sessions.begin(session_id, 2).items) == [1, 2, 0]


# ---- the cache


def test_when_all_slots_are_in_use_a_fetch_goes_on_without_a_session(sessions: Sessions) -> None:
    opened = [sessions.open() for _ in range(3)]
    context = sessions.begin(0, 0, item(0))
    assert (indexes(context.items), context.session_id) == ([0], 0)
    for session_id in opened:
        sessions.begin(session_id, 1)


def test_a_session_that_was_not_used_for_long_makes_room(sessions: Sessions) -> None:
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


def test_an_id_is_not_given_while_it_is_in_use() -> None:
    ids = iter([0, 7, 7, 0, 8])
    sessions = FetchSessions(FakeClock(), lambda: next(ids), 10, 10)
    given = [sessions.begin(0, 0, [item(0)], [], False).session_id for _ in range(2)]
    assert given == [7, 8]


# ---- partitions of all sessions together


def test_a_fetch_for_whose_partitions_there_is_no_room_gets_no_session() -> None:
    sessions = Sessions(partitions=3)
    first = sessions.open(item(0), item(1))
    assert sessions.open(item(0), item(1)) == 0
    assert sessions.open(item(2)) > 0
    sessions.begin(first, -1)
    assert sessions.open(item(0), item(1)) > 0


def test_a_session_that_has_long_not_been_used_makes_room_for_partitions() -> None:
    sessions = Sessions(partitions=3)
    sessions.open(item(0))
    sessions.open(item(0), item(1))
    sessions.clock.advance(EVICTION_MS)
    assert sessions.open(item(0), item(1), item(2)) > 0
    assert len(sessions.sessions) == 1


def test_nobody_makes_room_for_more_than_there_can_be() -> None:
    sessions = Sessions(partitions=3)
    idle = sessions.open(item(0))
    sessions.clock.advance(EVICTION_MS)
    assert sessions.open(*map(item, range(4))) == 0
    sessions.begin(idle, 1)


def test_a_session_that_grows_beyond_the_room_there_is_ends() -> None:
    """Its client begins anew, and then is told that it gets none."""
    sessions = Sessions(partitions=3)
    first, second = sessions.open(item(0)), sessions.open(item(0))
    sessions.begin(first, 1, item(1))
    with pytest.raises(FetchSessionNotFound):
        sessions.begin(second, 1, item(1), item(2))
    sessions.begin(first, 2, forgotten=[("t", 0)])
    assert sessions.open(item(0), item(1)) > 0


def test_partitions_that_are_forgotten_or_named_again_are_counted_once() -> None:
    sessions = Sessions(partitions=2)
    only = sessions.open(item(0), item(1))
    for epoch in range(1, 6):
        sessions.begin(only, epoch, item(0, offset=epoch), forgotten=[("t", 7)])
    sessions.begin(only, 6, forgotten=[("t", 0), ("t", 1)])
    assert sessions.open(item(0), item(1)) > 0
