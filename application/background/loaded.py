"""Reads of jobs and scans, which wait until what they need is in memory."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending

T = TypeVar("T")


def loaded(read: Callable[[], T]) -> Generator[Pending[None], Any, T]:
    """Repeats a read until what it needs is in memory.

    `read` includes the checks before it: meanwhile the topic may be deleted.
    """
    while True:
        try:
            return read()
        except NotInMemory as later:
            yield later.loading
