"""ScanWorkers: processes that do for the loop what would hold it too long."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from application.ports.log_store import LogStore
from application.ports.pending import Pending
from application.records.plan import ScanEnd, ScanPlan
from domain.errors import BrokerError


class ScanPart(NamedTuple):
    """What a scan has brought since it was last asked; with `end` it was the last."""

    data: bytes
    end: ScanEnd | BrokerError | None = None


class RunningScan(Protocol):
    def next(self) -> Pending[ScanPart]:
        """What comes next, once there is something. Between two calls only little is gathered."""
        ...

    def close(self) -> None:
        """The rest is not needed."""
        ...


class ScanWorkers(Protocol):
    @property
    def one_waits(self) -> bool:
        """Whether a scan could go on in one now, without waiting for a process to start."""
        ...

    def start(self, plan: ScanPlan, log: LogStore) -> RunningScan | None:
        """None when all are busy, or none can be had; `log` is asked for what the scan reads."""
        ...

    def close(self) -> None: ...
