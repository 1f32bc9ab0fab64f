"""A loop for logs whose reads respond later: each call is repeated until all it needs is there."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from application.ports.log_store import NotInMemory

T = TypeVar("T")

WITHIN_S = 10


def patiently(
    call: Callable[[], T], callbacks: SimpleQueue[Callable[[], None]], attempts: int
) -> T:
    for _ in range(attempts):
        try:
            return call()
        except NotInMemory as later:
            while not later.loading.resolved:
                callbacks.get(timeout=WITHIN_S)()
    raise AssertionError("what was loaded is never in memory")
