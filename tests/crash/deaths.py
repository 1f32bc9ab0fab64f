"""How a run of the broker ends, and what ends it."""

from __future__ import annotations

import random
import signal
import time
from dataclasses import dataclass

from tests.crash.broker import VIOLENT, Broker
from tests.crash.points import Point, When, points_of

MOST_RESPONSES = 400
#: Timeout for a point with several passages. Some do not come again; the others come sooner.
PATIENCE_RESPONSES = 4000
#: Delays before a signal, and between SIGTERM and SIGKILL.
DELAY_S, GRACE_S = 0.003, 0.010


@dataclass
class Death:
    """The end of one run of the broker."""

    title: str
    point: Point | None = None
    #: The signal is sent after so many responses, and so much later.
    responses: int = 0
    delay_s: float = 0.0
    number: signal.Signals | None = signal.SIGKILL
    #: Delay of SIGKILL after SIGTERM.
    grace_s: float | None = None

    @property
    def when(self) -> When:
        return self.point.when if self.point else When.RUNNING

    @property
    def codes(self) -> tuple[int, ...]:
        """Exit codes that are expected."""
        if self.point is not None or self.number is signal.SIGKILL:
            return VIOLENT
        return (0,) if self.grace_s is None else (0, -signal.SIGTERM, *VIOLENT)


def killed_after(responses: int, chance: random.Random) -> Death:
    return Death(f"SIGKILL after {responses} responses", None, responses, chance.random() * DELAY_S)


def at(point: Point, chance: random.Random) -> Death:
    if point.when is not When.STOPPING:
        if point.most > 1:
            return Death(point.name, point, PATIENCE_RESPONSES)
        return Death(point.name, point, number=None)
    return Death(point.name, point, chance.randrange(50), number=signal.SIGTERM)


def random_death(flush: str, chance: random.Random, engine: str = "lmdb") -> Death:
    responses = chance.randrange(chance.choice([3, 50, MOST_RESPONSES]))
    drawn = chance.random()
    if drawn < 0.5:
        return killed_after(responses, chance)
    if drawn < 0.6:
        return Death(f"SIGTERM after {responses} responses", None, responses, number=signal.SIGTERM)
    if drawn < 0.7:
        grace_s = chance.random() * GRACE_S
        title = f"SIGTERM after {responses} responses, SIGKILL {grace_s * 1000:.1f} ms later"
        return Death(title, None, responses, number=signal.SIGTERM, grace_s=grace_s)
    later = [point for point in points_of(flush, engine) if point.when is not When.FIRST_START]
    return at(chance.choice(later), chance)


class Executioner:
    """Polled by the fleet; ends the broker when it is time."""

    def __init__(self, broker: Broker, death: Death) -> None:
        self.broker, self.death = broker, death
        self.due: list[tuple[float, signal.Signals]] | None = None

    def __call__(self, responses: int) -> float | None:
        now = time.monotonic()
        if self.due is None:
            if self.death.number is None or responses < self.death.responses:
                return None
            self.due = self._orders(self.death.number, now + self.death.delay_s)
        while self.due and self.due[0][0] <= now:
            self.broker.signal(self.due.pop(0)[1])
        return self.due[0][0] - now if self.due else None

    def _orders(self, number: signal.Signals, when: float) -> list[tuple[float, signal.Signals]]:
        orders = [(when, number)]
        if self.death.grace_s is not None:
            orders.append((when + self.death.grace_s, signal.SIGKILL))
        return orders
