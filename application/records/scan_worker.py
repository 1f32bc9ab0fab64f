"""ScanWorkers: processes for scans that would block the loop for too long."""

from __future__ import annotations

from typing import Protocol

from application.background.worker import RunningWork, WorkerPart
from application.ports.log_store import LogStore
from application.records.plan import ScanEnd, ScanPlan

ScanPart = WorkerPart[ScanEnd]
RunningScan = RunningWork[ScanEnd]


class ScanWorkers(Protocol):
    @property
    def has_idle(self) -> bool:
        """Whether a worker is idle, so that no process has to start."""
        ...

    def start(self, plan: ScanPlan, log: LogStore) -> RunningScan | None:
        """None if all workers are busy or none can start; `log` serves the reads of the scan."""
        ...

    def close(self) -> None: ...
