"""notify_each: one fault does not keep the other callbacks from being called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def notify_each(receivers: Iterable[T], notify: Callable[[T], object]) -> list[Exception]:
    """Returns what was raised; the caller raises one of them last, for the log of the loop."""
    faults: list[Exception] = []
    for one in receivers:
        try:
            notify(one)
        except Exception as fault:
            faults.append(fault)
    return faults
