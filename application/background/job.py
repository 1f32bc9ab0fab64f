"""Jobs: generators that do work in steps, run by `application/background/runner.py:Runner`.

A job yields often, between its steps; the runner decides when a slice is over. It yields

    SLICE          other jobs may run here
    PAUSE          it has nothing to do for the moment, or yields to more important work
    COMMIT         it has staged changes: it is resumed at the end of the commit, with None or
                   StorageFailed
    END_OF_COMMIT  the same with nothing staged
    Pending        it is resumed with the value
    StorageFailed  it could not read: it is resumed after a back-off

and returns its result.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import Any, TypeVar

from application.ports.pending import Pending
from domain.errors import StorageFailed

T = TypeVar("T")


class Step(Enum):
    SLICE = "slice"
    PAUSE = "pause"
    COMMIT = "commit"
    END_OF_COMMIT = "end of commit"


SLICE = Step.SLICE
PAUSE = Step.PAUSE
COMMIT = Step.COMMIT
END_OF_COMMIT = Step.END_OF_COMMIT

Outcome = StorageFailed | None
Job = Generator[Step | Pending[Any] | StorageFailed, Any, T]
