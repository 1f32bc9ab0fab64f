"""Jobs: generators that do work in steps, run by `application/background/runner.py:Runner`.

A job yields between its steps, often: whether a slice is over is for the runner to say. It yields

    SLICE          others may go on here
    PAUSE          there is nothing to do for the moment, or others count more
    COMMIT         what it has staged is to be persisted: it is resumed at the end of the commit,
                   with None or the StorageFailed of it
    END_OF_COMMIT  the same without anything staged
    Pending        it is resumed with the value
    StorageFailed  what it could not read: it is resumed after a back-off

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
