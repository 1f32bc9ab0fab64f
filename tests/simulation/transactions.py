"""Which worlds have transactional producers, and how many: none below `FIRST_SEED`."""

from __future__ import annotations

from contextlib import ExitStack
from random import Random
from unittest.mock import patch

from domain.transactions import decisions, transaction

#: Below it the worlds are without, so that the seeds which find other faults stay.
FIRST_SEED = 300
#: Share of the worlds from there on.
PRESENCE = 0.6
ABORT_CHECK_MS = 40
EXPIRATION_CHECK_MS = 300
#: In some worlds clients get four epochs of a producer id.
FEW_EPOCHS = 4


def has_transactions(seed: int) -> bool:
    return seed >= FIRST_SEED and Random(f"transactions of {seed}").random() < PRESENCE


class Transactions:
    def __init__(self, seed: int) -> None:
        random = self.random = Random(f"transactions of {seed}")  # does not change other worlds
        self.exist = random.random() < PRESENCE and seed >= FIRST_SEED
        #: By transactional id: how many producers use it.
        counts = random.choice(((1,), (2,), (2,), (1, 1), (2, 1)))
        self.producers = {f"tx{number}": count for number, count in enumerate(counts)}
        self.expiration_ms = random.choice((None, None, 900))
        self._has_few_epochs = random.random() < 0.25

    @property
    def group_ids(self) -> list[str]:
        return [group_of(one) for one in self.producers] if self.exist else []

    def settings(self) -> dict[str, str]:
        if not self.exist:
            return {}
        found = {
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": str(ABORT_CHECK_MS),
            "transaction.remove.expired.transaction.cleanup.interval.ms": str(EXPIRATION_CHECK_MS),
        }
        if self.expiration_ms is not None:
            found["transactional.id.expiration.ms"] = str(self.expiration_ms)
        return found

    def shrink(self, context: ExitStack) -> None:
        if self.exist and self._has_few_epochs:
            for module in (decisions, transaction):
                context.enter_context(patch.object(module, "LAST_EPOCH", FEW_EPOCHS - 1))
                context.enter_context(patch.object(module, "MAX_EPOCH", FEW_EPOCHS))


def group_of(transactional_id: str) -> str:
    """The group whose offsets its producers commit."""
    return f"read by {transactional_id}"
