"""Metrics of quotas: of clients that have some, read in slices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from application.metrics.families import jmx
from application.metrics.families.family import Family, Reading
from application.security.client_quotas import ClientQuotas
from domain.security.quota import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)

#: The most rates of one scrape: a client may send any number of client ids.
MOST = 1_000
#: Rates that are read before other jobs may run.
LOOKED_AT_ONCE = 50

_FAMILIES: dict[str, tuple[Family, Family]] = {
    PRODUCER_BYTE_RATE: (jmx.PRODUCE_BYTE_RATE, jmx.PRODUCE_THROTTLE_TIME),
    CONSUMER_BYTE_RATE: (jmx.FETCH_BYTE_RATE, jmx.FETCH_THROTTLE_TIME),
    REQUEST_PERCENTAGE: (jmx.REQUEST_TIME_PERCENT, jmx.REQUEST_THROTTLE_TIME),
    CONTROLLER_MUTATION_RATE: (jmx.MUTATION_TOKENS, jmx.MUTATION_THROTTLE_TIME),
}


class QuotaReadings:
    def __init__(self, quotas: ClientQuotas) -> None:
        self._quotas = quotas

    def read(self) -> Iterator[Reading]:
        found: dict[str, list[tuple[tuple[str, str], float, float]]] = {}
        for number, (sensor, rate, throttle_ms) in enumerate(islice(self._quotas.sensors(), MOST)):
            found.setdefault(sensor.key, []).append((sensor.scope, rate, throttle_ms))
            if number % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                yield jmx.PRODUCE_BYTE_RATE, []
        for key, (rates, throttle_times) in _FAMILIES.items():
            each = found.get(key, ())
            yield rates, [(scope, rate) for scope, rate, _ in each]
            yield throttle_times, [(scope, throttle_ms) for scope, _, throttle_ms in each]
