"""Reads of jobs, which wait until what they need is in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from application.background.job import Job
from application.ports.log_store import NotInMemory

T = TypeVar("T")


def loaded(read: Callable[[], T]) -> Job[T]:
    """Repeats a read until what it needs is in memory."""
    while True:
        try:
            return read()
        except NotInMemory as later:
            yield later.loading
