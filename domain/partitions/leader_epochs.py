"""LeaderEpochs: which leader epochs a log has, and where each begins (KIP-101, KIP-320).

A consumer asks where the epoch of its last record ends. If that lies before its position, records
that it has read are gone, and it goes back to where the logs part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

NO_EPOCH = -1


class EpochEnd(NamedTuple):
    leader_epoch: int
    end_offset: int


UNKNOWN_END = EpochEnd(NO_EPOCH, -1)


class LeaderEpochs:
    __slots__ = ("_epochs", "_starts")

    def __init__(self, starts: Iterable[tuple[int, int]] = ()) -> None:
        """Pairs of an epoch and its first offset, ascending."""
        self._epochs: list[int] = []
        self._starts: list[int] = []
        for epoch, offset in starts:
            self.begin(epoch, offset)

    def starts(self) -> list[tuple[int, int]]:
        return list(zip(self._epochs, self._starts, strict=True))

    @property
    def latest(self) -> int:
        return self._epochs[-1] if self._epochs else NO_EPOCH

    def begin(self, epoch: int, offset: int) -> None:
        """Later epochs only; one without a single batch leaves no trace."""
        if epoch <= self.latest:
            return
        if self._starts and self._starts[-1] == offset:
            self._epochs[-1] = epoch
        else:
            self._epochs.append(epoch)
            self._starts.append(offset)

    def at(self, offset: int) -> int:
        """The epoch of the batch that holds, or would hold, this offset."""
        place = bisect_right(self._starts, offset)
        return self._epochs[max(place - 1, 0)] if self._epochs else NO_EPOCH

    def end_of(self, epoch: int, log_end: int) -> EpochEnd:
        """Where this epoch, or the latest one before it, ends."""
        if epoch == NO_EPOCH or epoch > self.latest:
            return UNKNOWN_END
        if epoch == self.latest:
            return EpochEnd(epoch, log_end)
        place = bisect_right(self._epochs, epoch)
        if not place:
            # What came before the first epoch ended where that began.
            return EpochEnd(epoch, self._starts[0])
        return EpochEnd(self._epochs[place - 1], self._starts[place])

    def trim(self, start_offset: int) -> None:
        """Forgets epochs all of whose batches lie before the log start."""
        place = max(bisect_right(self._starts, start_offset) - 1, 0)
        del self._epochs[:place], self._starts[:place]
