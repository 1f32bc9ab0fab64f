"""ScanWorkers: processes for scans that would block the loop for too long."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from application.ports.log_store import LogStore
from application.ports.pending import Pending
from application.records.plan import ScanEnd, ScanPlan
from domain.errors import BrokerError


class ScanPart(NamedTuple):
    """The next part of the output; the last one has an `end`."""

    data: bytes
    end: ScanEnd | BrokerError | None = None


class RunningScan(Protocol):
    def next(self) -> Pending[ScanPart]:
        """The next part, once there is one. Little is buffered between two calls."""
        ...

    def close(self) -> None:
        """Cancels the rest."""
        ...


class ScanWorkers(Protocol):
    @property
    def has_idle(self) -> bool:
        """Whether a worker is idle, so that no process has to start."""
        ...

    def start(self, plan: ScanPlan, log: LogStore) -> RunningScan | None:
        """None if all workers are busy or none can start; `log` serves the reads of the scan."""
        ...

    def close(self) -> None: ...
