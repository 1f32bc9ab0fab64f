"""Pending: a value that comes later, without a loop or a future: one caller waits, one resolves.

What can be refused is refused in the value. A fault of ours, which nobody foresaw, is
told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Pending(Generic[T]):
    """Resolved once; the callback runs in `resolve`, or in `then` if the value is there."""

    __slots__ = ("_callback", "_failed", "_value", "fault", "resolved")

    _value: T

    def __init__(self) -> None:
        self.resolved = False
        #: Why there will be no value.
        self.fault: Exception | None = None
        self._callback: Callable[[T], None] | None = None
        self._failed: Callable[[Exception], None] | None = None

    def then(
        self, callback: Callable[[T], None], failed: Callable[[Exception], None] | None = None
    ) -> None:
        """Without `failed` a fault is raised where it comes up."""
        if self.resolved:
            callback(self._value)
        elif self.fault is not None:
            _tell(self.fault, failed)
        else:
            assert self._callback is None, "a pending value has one caller"
            self._callback = callback
            self._failed = failed

    def map(self, convert: Callable[[T], U]) -> Pending[U]:
        """What `convert` makes of the value, once it is there."""
        converted: Pending[U] = Pending()
        self.then(lambda value: converted.resolve(convert(value)), converted.fail)
        return converted

    def resolve(self, value: T) -> None:
        assert not self.resolved and self.fault is None, "a pending value is resolved once"
        self.resolved = True
        self._value = value
        # Who calls and what is called hold each other: a cycle for each request, if it stayed.
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
            _tell(fault, failed)

    def abandon(self) -> None:
        """The caller has gone; what is resolved later goes nowhere."""
        self._callback = self._failed = None


def _tell(fault: Exception, failed: Callable[[Exception], None] | None) -> None:
    if failed is None:
        raise fault
    failed(fault)


def resolved(value: T) -> Pending[T]:
    """What is there already, for a caller who has to wait in other cases."""
    pending: Pending[T] = Pending()
    pending.resolve(value)
    return pending


def all_of(pendings: Iterable[Pending[None]]) -> Pending[None]:
    """Resolved when all of them are; there is at least one."""
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
    """The one type for a caller who has to wait in other cases."""
    return value if isinstance(value, Pending) else resolved(value)
