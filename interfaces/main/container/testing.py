"""Testing: what a broker with `testing` offers to tests. Imported only for such a broker."""

from __future__ import annotations

from application.ports.scheduler import Scheduler
from interfaces.kafka.requests.faults import Faults


class BrokerTesting:
    """Implements interfaces.rest.testing.Testing."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.faults = Faults(scheduler)
