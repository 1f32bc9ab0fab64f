"""Fetch sessions (KIP-227): a client names its partitions once, and then only changes.

request             response
id 0, epoch -1      a full fetch without a session
id n, epoch -1      closes session n; a full fetch without a session
id n, epoch 0       closes session n (0: none); a full fetch that opens a new session
id n, epoch e > 0   updates session n, fetches all its partitions, and returns only changed ones;
                    e must be the epoch after the last response
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

from application.partitions.fetch_query import FetchedPartition, FetchItem
from application.ports.clock import Clock
from domain.errors import FetchSessionNotFound, FetchSessionTopicIdError, InvalidFetchSessionEpoch

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1

#: A session that was used within this time is not evicted.
EVICTION_MS = 120_000

ItemKey = tuple[object, int]


class FetchContext:
    """Selects the partitions of a response: without a session, all of them."""

    def __init__(
        self, items: list[FetchItem], session: FetchSession | None = None, is_first: bool = False
    ) -> None:
        self.items = items
        self._session = session
        self.is_first = is_first

    @property
    def session_id(self) -> int:
        return NO_SESSION if self._session is None else self._session.session_id

    def choose(self, fetched: list[FetchedPartition]) -> list[FetchedPartition]:
        if self._session is None:
            return fetched
        if self.is_first:
            self._session.remember(fetched)
            return fetched
        return self._session.changed(fetched)


class FetchSession:
    """The partitions of a session, and the offsets that were last sent for each."""

    def __init__(
        self, session_id: int, items: list[FetchItem], uses_topic_ids: bool, now_ms: int
    ) -> None:
        self.session_id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.last_used_ms = now_ms
        self.epoch = 1
        self._by_key: OrderedDict[ItemKey, FetchItem] = OrderedDict(
            (item.key, item) for item in items
        )
        self._sent: dict[ItemKey, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def items(self) -> list[FetchItem]:
        return list(self._by_key.values())

    def change(self, items: Iterable[FetchItem], forgotten: Iterable[ItemKey]) -> None:
        for item in items:
            self._by_key[item.key] = item
        for key in forgotten:
            self._by_key.pop(key, None)
            self._sent.pop(key, None)

    def remember(self, fetched: list[FetchedPartition]) -> None:
        for one in fetched:
            self._sent[one.item.key] = _state(one)

    def changed(self, fetched: list[FetchedPartition]) -> list[FetchedPartition]:
        """Partitions with changes. Those with records move to the end, as in Kafka, and those with
        errors: what cannot be read takes the turn of no other partition.
        """
        chosen = []
        for one in fetched:
            key = one.item.key
            state = _state(one)
            has_had_turn = one.records or one.error is not None
            if has_had_turn or one.is_final or self._sent.get(key) != state:
                chosen.append(one)
                self._sent[key] = state
                if has_had_turn and key in self._by_key:
                    self._by_key.move_to_end(key)
        return chosen


def _state(one: FetchedPartition) -> tuple[int, int]:
    """After an error the next offsets always count as changed."""
    return (one.high_watermark, one.log_start_offset) if one.error is None else (-1, -1)


class FetchSessions:
    def __init__(
        self,
        clock: Clock,
        new_id: Callable[[], int],
        max_sessions: int,
        max_partitions: int,
    ) -> None:
        """`max_partitions` of all sessions together."""
        self._clock = clock
        self._new_id = new_id
        self._max_sessions = max_sessions
        self._max_partitions = max_partitions
        self._partitions = 0
        #: Least recently used first.
        self._by_id: OrderedDict[int, FetchSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_id)

    def begin(
        self,
        session_id: int,
        epoch: int,
        items: list[FetchItem],
        forgotten: list[ItemKey],
        uses_topic_ids: bool,
    ) -> FetchContext:
        """Returns the partitions to fetch; raises if session id or epoch do not match."""
        if epoch in (FINAL_EPOCH, INITIAL_EPOCH):
            self._end(session_id)
            if epoch == FINAL_EPOCH:
                return FetchContext(items)
            return self._open(items, uses_topic_ids)
        session = self._session(session_id, epoch, uses_topic_ids)
        before = len(session)
        session.change(items, forgotten)
        self._partitions += len(session) - before
        if not len(session):
            self._end(session_id)
            return FetchContext([])
        if self._partitions > self._max_partitions:
            self._end(session_id)
            raise FetchSessionNotFound("Fetch sessions hold too many partitions")
        session.epoch = 1 if session.epoch == MAX_EPOCH else session.epoch + 1
        session.last_used_ms = self._clock.monotonic_ms()
        self._by_id.move_to_end(session_id)
        return FetchContext(session.items(), session)

    def throttled(self, context: FetchContext) -> int:
        """The session id of a response without partitions; it opens no session, as in Kafka."""
        if context.is_first:
            self._end(context.session_id)
            return NO_SESSION
        return context.session_id

    def _session(self, session_id: int, epoch: int, uses_topic_ids: bool) -> FetchSession:
        session = self._by_id.get(session_id)
        if session is None:
            raise FetchSessionNotFound(f"Fetch session {session_id} does not exist")
        if session.epoch != epoch:
            raise InvalidFetchSessionEpoch(
                f"Fetch session {session_id} is at epoch {session.epoch}, not {epoch}"
            )
        if session.uses_topic_ids != uses_topic_ids:
            raise FetchSessionTopicIdError("A fetch session names topics always by id or never")
        return session

    def _open(self, items: list[FetchItem], uses_topic_ids: bool) -> FetchContext:
        if not self._max_sessions or len(items) > self._max_partitions:
            return FetchContext(items)  # it would never fit: evict none
        now_ms = self._clock.monotonic_ms()
        if not self._make_room(len(items), now_ms):
            return FetchContext(items)
        session_id = self._new_id()
        while session_id in self._by_id or session_id == NO_SESSION:
            session_id = self._new_id()
        session = FetchSession(session_id, items, uses_topic_ids, now_ms)
        self._by_id[session_id] = session
        self._partitions += len(session)
        return FetchContext(session.items(), session, is_first=True)

    def _make_room(self, partitions: int, now_ms: int) -> bool:
        while (
            len(self._by_id) >= self._max_sessions
            or self._partitions + partitions > self._max_partitions
        ):
            oldest = next(iter(self._by_id.values()))
            if now_ms - oldest.last_used_ms < EVICTION_MS:
                return False
            self._end(oldest.session_id)
        return True

    def _end(self, session_id: int) -> None:
        session = self._by_id.pop(session_id, None)
        if session is not None:
            self._partitions -= len(session)
