"""Pending: a value that comes later, without a loop or a future: one caller waits, one resolves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Pending(Generic[T]):
    """Resolved once; the callback runs in `resolve`, or in `then` if the value is there."""

    __slots__ = ("_callback", "_value", "resolved")

    _value: T

    def __init__(self) -> None:
        self.resolved = False
        self._callback: Callable[[T], None] | None = None

    def then(self, callback: Callable[[T], None]) -> None:
        if self.resolved:
            callback(self._value)
        else:
            assert self._callback is None, "a pending value has one caller"
            self._callback = callback

    def resolve(self, value: T) -> None:
        assert not self.resolved, "a pending value is resolved once"
        self.resolved = True
        self._value = value
        # Who calls and what is called hold each other: a cycle for each request, if it stayed.
        callback, self._callback = self._callback, None
        if callback is not None:
            callback(value)

    def abandon(self) -> None:
        """The caller has gone; what is resolved later goes nowhere."""
        self._callback = None


def resolved(value: T) -> Pending[T]:
    """What is there already, for a caller who has to wait in other cases."""
    pending: Pending[T] = Pending()
    pending.resolve(value)
    return pending
