"""LongWork: answers that take more than one pass of the loop.

Work is a generator. Where it yields others may have their turn, or it waits for what it yields, and
what it returns is the answer, or where that comes from. Each begins at once, as most are done then.
Those that are not go on in turn, in every pass one of them and a slice of it, however many there
are. A fault in one is its own: the next turn is arranged before anything is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any, Generic, TypeVar

from application.pending import Pending
from application.ports.scheduler import Scheduler

T = TypeVar("T")

Slices = Generator[Pending[None] | None, None, T | Pending[T]]


class LongAnswer(Pending[T], Generic[T]):
    __slots__ = ("_ends_when_abandoned", "_slices", "loading")

    def __init__(self, slices: Slices[T], ends_when_abandoned: bool) -> None:
        super().__init__()
        self._slices = slices
        self._ends_when_abandoned = ends_when_abandoned
        #: What it waits for before its next slice.
        self.loading: Pending[None] | None = None

    def go_on(self) -> bool:
        """A slice; True when it was the last."""
        try:
            self.loading = next(self._slices)
        except StopIteration as end:
            if isinstance(end.value, Pending):
                end.value.then(self.resolve, self.fail)
            else:
                self.resolve(end.value)
        except Exception as fault:
            self.fail(fault)
        else:
            return False
        return True

    def abandon(self) -> None:
        """Between two slices."""
        super().abandon()
        if self._ends_when_abandoned:
            self._slices.close()


class LongWork:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: deque[LongAnswer[Any]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, slices: Slices[T], *, ends_when_abandoned: bool = False) -> LongAnswer[T]:
        """What only answers ends when nobody is left to be answered; what changes something is
        done as it was asked for.
        """
        answer = LongAnswer(slices, ends_when_abandoned)
        self._go_on(answer)
        return answer

    def _go_on(self, answer: LongAnswer[Any]) -> None:
        if answer.go_on():
            return
        if answer.loading is None:
            self._queue(answer)
        else:
            answer.loading.then(lambda _: self._queue(answer))

    def _queue(self, answer: LongAnswer[Any]) -> None:
        self._waiting.append(answer)
        if len(self._waiting) == 1:
            self._scheduler.soon(self._turn)

    def _turn(self) -> None:
        answer = self._waiting.popleft()
        if self._waiting:
            self._scheduler.soon(self._turn)
        self._go_on(answer)
