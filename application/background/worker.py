"""Workers: processes for work that would block the loop for too long."""

from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, TypeVar

from application.ports.pending import Pending
from domain.errors import BrokerError

End = TypeVar("End")


class WorkerPart(NamedTuple, Generic[End]):
    """The next part of the output; the last one has an `end`."""

    data: bytes
    end: End | BrokerError | None = None


class RunningWork(Protocol[End]):
    def next(self) -> Pending[WorkerPart[End]]:
        """The next part, once there is one. Little is buffered between two calls."""
        ...

    def close(self) -> None:
        """Cancels the rest."""
        ...
