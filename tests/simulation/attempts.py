"""Transactions as their producers mean them, and the requests that may fence them."""

from __future__ import annotations

from collections.abc import Callable

from domain.transactions.transaction import ProducerIdAndEpoch
from tests.simulation.timeline import Timeline

#: Group, topic, partition.
Key = tuple[str, str, int]


class Attempt:
    """One transaction of a producer."""

    __slots__ = (
        "batches", "began_ms", "completed", "decided", "decision", "may_be_fenced", "offsets",
        "producer", "requested", "timeout_ms", "transactional_id",
    )  # fmt: skip

    def __init__(
        self, transactional_id: str, producer: ProducerIdAndEpoch, timeout_ms: int, began_ms: int
    ) -> None:
        self.transactional_id = transactional_id
        self.producer = producer
        self.timeout_ms = timeout_ms
        self.began_ms = began_ms
        #: The first value of each batch.
        self.batches: list[str] = []
        #: Offset, and the number of deletions of the topic when it was requested.
        self.offsets: dict[Key, tuple[int, int]] = {}
        #: Whether an end was requested: commit, abort.
        self.requested: set[bool] = set()
        #: Another InitProducerId may abort it.
        self.may_be_fenced = False
        #: True: committed; None: not decided. By commit number.
        self.decision: bool | None = None
        self.decided = 0
        self.completed: int | None = None

    def __repr__(self) -> str:
        producer_id, epoch = self.producer
        return f"transaction of {self.transactional_id} ({producer_id}, epoch {epoch})"


class Init:
    """One InitProducerId."""

    __slots__ = ("producer", "responded_ms", "sent_ms")

    def __init__(self, sent_ms: int) -> None:
        self.sent_ms = sent_ms
        self.responded_ms: int | None = None
        #: None: it has failed so far.
        self.producer: ProducerIdAndEpoch | None = None


class Attempts:
    def __init__(self, timeline: Timeline, violation: type[Exception]) -> None:
        self._timeline = timeline
        self._violation = violation
        self._by_id: dict[str, list[Attempt]] = {}
        self._inits: dict[str, list[Init]] = {}
        #: By first values of batches, and by offset.
        self._of_batch: dict[str, Attempt] = {}
        self._of_offset: dict[tuple[Key, int], Attempt] = {}
        self._assigned: set[ProducerIdAndEpoch] = set()

    # ---- requests

    def begin(
        self, transactional_id: str, producer: ProducerIdAndEpoch, timeout_ms: int
    ) -> Attempt:
        attempt = Attempt(transactional_id, producer, timeout_ms, self._timeline.now)
        inits = self._inits[transactional_id]
        attempt.may_be_fenced = not all(one.responded_ms is not None for one in inits)
        self._by_id.setdefault(transactional_id, []).append(attempt)
        return attempt

    def writes(self, attempt: Attempt, value: str) -> None:
        attempt.batches.append(value)
        self._of_batch[value] = attempt

    def commits_offset(self, attempt: Attempt, key: Key, offset: int, deletions: int) -> None:
        attempt.offsets[key] = offset, deletions
        self._of_offset[key, offset] = attempt

    def initializes(self, transactional_id: str) -> Init:
        inits = self._inits.setdefault(transactional_id, [])
        inits.append(Init(self._timeline.now))
        for attempt in self._by_id.get(transactional_id, ()):
            attempt.may_be_fenced = True
        return inits[-1]

    # ---- responses

    def initialized(self, init: Init, producer: ProducerIdAndEpoch, is_new: bool) -> None:
        """`is_new`: the client did not continue with its epoch."""
        init.producer = producer
        if is_new and producer in self._assigned:
            raise self._violation(f"{producer} was assigned to two producers")
        self._assigned.add(producer)

    def check_accepted(self, transactional_id: str, init: Init, sent_ms: int) -> None:
        """A request is not accepted if a newer producer was initialized before it was sent."""
        assert init.producer is not None
        for one in self._inits[transactional_id]:
            is_newer = one.producer is not None and one.producer > init.producer
            if is_newer and one.responded_ms is not None and one.responded_ms < sent_ms:
                raise self._violation(f"a zombie of {transactional_id} is not fenced")

    def is_replaced(self, transactional_id: str, init: Init) -> bool:
        """Whether another InitProducerId may have fenced this producer."""
        assert init.producer is not None
        for one in self._inits[transactional_id]:
            if one.responded_ms is None:
                return True
            if one.producer is None:  # it has aborted a transaction, and failed
                is_later = one.responded_ms >= init.sent_ms
            else:
                is_later = one.producer > init.producer
            if is_later:
                return True
        return False

    def may_have_timed_out(self, attempt: Attempt) -> bool:
        timeline = self._timeline
        open_ms = timeline.latest_ms() - timeline.earliest_ms(attempt.began_ms)
        return open_ms > attempt.timeout_ms

    def check_decision(self, attempt: Attempt, is_stored: Callable[[str], bool]) -> None:
        if attempt.decision:
            if True not in attempt.requested:
                raise self._violation(f"{attempt} is committed; no client has requested that")
            lost = [value for value in attempt.batches if not is_stored(value)]
            if lost:
                raise self._violation(f"{attempt} is committed without {lost}")
        elif not (
            False in attempt.requested or attempt.may_be_fenced or self.may_have_timed_out(attempt)
        ):
            raise self._violation(f"{attempt} is aborted without a reason")

    # ---- state

    def of_batch(self, value: str) -> Attempt | None:
        return self._of_batch.get(value)

    def of_offset(self, key: Key, offset: int) -> Attempt | None:
        return self._of_offset.get((key, offset))

    def has_offset(self, key: Key, since: int) -> bool:
        """Whether an offset of a transaction may be pending after that commit."""
        return any(
            key in one.offsets and (one.completed is None or one.completed > since)
            for attempts in self._by_id.values()
            for one in attempts
        )

    def undecided(self, transactional_id: str, producer: ProducerIdAndEpoch) -> Attempt | None:
        found = self._by_id.get(transactional_id, ())
        return next(
            (one for one in found if one.producer == producer and one.decision is None), None
        )

    def has_incomplete(self, transactional_id: str, commit: int) -> bool:
        """Whether a transaction was decided, and not completed, at that commit."""
        return any(
            one.decision is not None and (one.completed is None or one.completed > commit)
            for one in self._by_id.get(transactional_id, ())
        )

    def incomplete(self, transactional_id: str) -> list[Attempt]:
        """Decided, and maybe without markers in some partition."""
        found = self._by_id.get(transactional_id, ())
        return [one for one in found if one.decision is not None and one.completed is None]
