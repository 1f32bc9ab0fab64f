"""Telling many of what has happened: one's fault is its own, the others hear of it all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def tell_each(whom: Iterable[T], tell: Callable[[T], object]) -> list[Exception]:
    """What was raised on the way; the caller raises one at its end, for the loop's log."""
    faults: list[Exception] = []
    for one in whom:
        try:
            tell(one)
        except Exception as fault:
            faults.append(fault)
    return faults
