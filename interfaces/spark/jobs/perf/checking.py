"""Records sent beside records received: lost, duplicated, out of order, corrupt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from interfaces.spark.jobs.perf.consuming import Consumed
from interfaces.spark.jobs.perf.plan import Plan
from interfaces.spark.jobs.perf.producing import Produced
from interfaces.spark.jobs.perf.received import bits_of, how_many, unpacked


@dataclass(frozen=True)
class Checked:
    sent: int
    #: Sent and not acknowledged: each may be in the log or not.
    unknown: int
    #: Of all subscriptions.
    expected: int
    received: int
    lost: int
    doubled: int
    disordered: int
    spoiled: int
    #: Of another run or another client, which writes to these topics.
    foreign: int

    @property
    def is_right(self) -> bool | None:
        """None where nothing was verified: no consumer, or nothing acknowledged."""
        if self.lost or self.doubled or self.disordered or self.spoiled:
            return False
        return True if self.expected else None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "right": self.is_right}


def check(plan: Plan, produced: Sequence[Produced], consumed: Sequence[Consumed]) -> Checked:
    sent = {each.number: each for each in produced}
    expected = lost = twice = beyond = 0
    for subscription, producers in sorted({(t.subscription, t.producers) for t in plan.consumers}):
        members = [each for each in consumed if each.subscription == subscription]
        for number in producers:
            size = sent[number].sent
            received = bits_of(size)
            for each in members:
                bits, more = unpacked(each.received.get(number, b""), size)
                twice += how_many(received & bits)
                beyond += more
                received |= bits
            acknowledged = bits_of(size, but=sent[number].unknown)
            expected += how_many(acknowledged)
            lost += how_many(acknowledged & ~received)
    return Checked(
        sent=sum(each.sent for each in produced),
        unknown=sum(len(each.unknown) for each in produced),
        expected=expected,
        received=sum(each.records for each in consumed),
        lost=lost,
        doubled=twice + sum(each.doubled for each in consumed),
        disordered=sum(each.disordered for each in consumed),
        spoiled=sum(each.spoiled for each in consumed),
        foreign=beyond + sum(each.foreign for each in consumed),
    )
