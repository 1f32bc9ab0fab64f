"""Pending: a later value, without a loop or a future: one caller waits, one resolves.

Expected errors are values. An unexpected exception is a fault, and fails the Pending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Pending(Generic[T]):
    """Resolved once; the callback runs in `resolve`, or in `then` if it is resolved already."""

    __slots__ = ("_callback", "_failed", "_value", "fault", "resolved")

    _value: T

    def __init__(self) -> None:
        self.resolved = False
        #: Set instead of a value.
        self.fault: Exception | None = None
        self._callback: Callable[[T], None] | None = None
        self._failed: Callable[[Exception], None] | None = None

    def then(
        self, callback: Callable[[T], None], failed: Callable[[Exception], None] | None = None
    ) -> None:
        """Without `failed` a fault is raised."""
        if self.resolved:
            callback(self._value)
        elif self.fault is not None:
            _report(self.fault, failed)
        else:
            assert self._callback is None, "a pending value has one caller"
            self._callback = callback
            self._failed = failed

    def map(self, convert: Callable[[T], U]) -> Pending[U]:
        """Resolved with the converted value."""
        converted: Pending[U] = Pending()
        self.then(lambda value: converted.resolve(convert(value)), converted.fail)
        return converted

    def resolve(self, value: T) -> None:
        assert not self.resolved and self.fault is None, "a pending value is resolved once"
        self.resolved = True
        self._value = value
        # Callback and value reference each other: a cycle for each request, if it stayed.
        callback, self._callback = self._callback, None
        self._failed = None
        if callback is not None:
            callback(value)

    def fail(self, fault: Exception) -> None:
        """Instead of `resolve`."""
        assert not self.resolved and self.fault is None, "a pending value is resolved once"
        self.fault = fault
        callback, self._callback = self._callback, None
        failed, self._failed = self._failed, None
        if callback is not None:
            _report(fault, failed)

    def abandon(self) -> None:
        """The caller has gone: no callback will run."""
        self._callback = self._failed = None


def _report(fault: Exception, failed: Callable[[Exception], None] | None) -> None:
    if failed is None:
        raise fault
    failed(fault)


def resolved(value: T) -> Pending[T]:
    """For a caller that waits in other cases."""
    pending: Pending[T] = Pending()
    pending.resolve(value)
    return pending


def all_of(pendings: Iterable[Pending[None]]) -> Pending[None]:
    """Resolved when all are; needs at least one."""
    every: Pending[None] = Pending()
    left = list(pendings)

    def resolved(_: None) -> None:
        left.pop()
        if not left:
            every.resolve(None)

    for one in tuple(left):
        one.then(resolved)
    return every


def later(value: T | Pending[T]) -> Pending[T]:
    """Wraps a value that is available now."""
    return value if isinstance(value, Pending) else resolved(value)
