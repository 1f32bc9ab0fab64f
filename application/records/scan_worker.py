"""ScanWorkers: processes that do for the loop what would hold it too long."""

from __future__ import annotations

from typing import Protocol

from application.ports.log_store import LogStore
from application.ports.pending import Pending
from application.records.plan import ScanEnd, ScanPlan
from domain.errors import BrokerError


class ScanPart:
    """What a scan has brought since it was last asked; with `end` it was the last."""

    __slots__ = ("data", "end")

    def __init__(self, data: bytes, end: ScanEnd | BrokerError | None = None) -> None:
        self.data = data
        self.end = end


class ScanJob:
    """A plan, how its records are shown, and how long it may take."""

    __slots__ = ("begun", "budget_ms", "data_format", "plan")

    def __init__(
        self, plan: ScanPlan, data_format: str, budget_ms: int | None, begun: bool = False
    ) -> None:
        self.plan = plan
        self.data_format = data_format
        self.budget_ms = budget_ms
        #: Whether what comes before the first record has been handed over.
        self.begun = begun


class RunningScan(Protocol):
    def next(self) -> Pending[ScanPart]:
        """What comes next, once there is something. Between two calls only little is gathered."""
        ...

    def close(self) -> None:
        """Nobody wants the rest."""
        ...


class ScanWorkers(Protocol):
    @property
    def one_waits(self) -> bool:
        """Whether a scan could go on in one now, without waiting for a process to start."""
        ...

    def start(self, job: ScanJob, log: LogStore) -> RunningScan | None:
        """None when all are busy, or none can be had; `log` is asked for what the scan reads."""
        ...

    def close(self) -> None: ...
