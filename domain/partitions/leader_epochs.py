"""LeaderEpochs: the leader epochs of a log, and their start offsets (KIP-101, KIP-320).

A consumer requests the end offset of the epoch of its last record. If that is below its position,
the log was truncated, and the consumer goes back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from domain.cluster.nodes import Leader
from domain.errors import FencedLeaderEpoch, UnknownLeaderEpoch

NO_EPOCH = -1


def check_leader_epoch(leader: Leader, epoch: int) -> None:
    """Raises if the client has another leader epoch (KIP-320)."""
    if epoch > leader.epoch:
        raise UnknownLeaderEpoch("The client knows a newer leader epoch than the broker")
    if epoch < leader.epoch and epoch != NO_EPOCH:
        raise FencedLeaderEpoch(leader, "The client's leader epoch is older than the broker's")


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
        """Ignores earlier epochs; an epoch without batches is replaced by the next one."""
        if epoch <= self.latest:
            return
        if self._starts and self._starts[-1] == offset:
            self._epochs[-1] = epoch
        else:
            self._epochs.append(epoch)
            self._starts.append(offset)

    def at(self, offset: int) -> int:
        """The epoch at this offset."""
        index = bisect_right(self._starts, offset)
        return self._epochs[max(index - 1, 0)] if self._epochs else NO_EPOCH

    def end_of(self, epoch: int, log_end: int) -> EpochEnd:
        """The end of this epoch, or of the latest one before it."""
        if epoch == NO_EPOCH or epoch > self.latest:
            return UNKNOWN_END
        if epoch == self.latest:
            return EpochEnd(epoch, log_end)
        index = bisect_right(self._epochs, epoch)
        if not index:
            # Earlier epochs end at the start of the first one.
            return EpochEnd(epoch, self._starts[0])
        return EpochEnd(self._epochs[index - 1], self._starts[index])

    def trim(self, start_offset: int) -> None:
        """Removes epochs without batches at or above the log start."""
        index = max(bisect_right(self._starts, start_offset) - 1, 0)
        del self._epochs[:index], self._starts[:index]
