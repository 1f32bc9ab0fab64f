"""Metrics of authentication by SASL; without such listeners there are none."""

from __future__ import annotations

from collections.abc import Iterator

from application.metrics.families import jmx
from application.metrics.families.family import Reading, Sample
from application.security.authentication import Authentication, ListenerAuthentication


class AuthenticationReadings:
    def __init__(self, authentication: Authentication) -> None:
        self._authentication = authentication

    def read(self) -> Iterator[Reading]:
        listeners = self._authentication.listeners
        counters = {
            jmx.SUCCESSFUL_AUTHENTICATIONS: "successful",
            jmx.FAILED_AUTHENTICATIONS: "failed",
            jmx.SUCCESSFUL_REAUTHENTICATIONS: "successful_again",
            jmx.FAILED_REAUTHENTICATIONS: "failed_again",
        }
        for family, attribute in counters.items():
            samples: list[Sample] = []
            for name, listener in listeners.items():
                samples += _samples(name, listener, attribute)
            yield family, samples
        expired: list[Sample] = [((name,), one.expired) for name, one in listeners.items()]
        yield jmx.EXPIRED_CONNECTIONS, expired


def _samples(name: str, listener: ListenerAuthentication, attribute: str) -> list[Sample]:
    """A sample of 0 for each enabled mechanism: a missing one would mean no data."""
    counted = getattr(listener, attribute)
    return [((name, mechanism), counted[mechanism]) for mechanism in listener.mechanisms]
