"""Awaits a Pending of the application from a coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, overload

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from domain.errors import BrokerError

T = TypeVar("T")


@overload
async def value_of(result: Pending[T]) -> T: ...


@overload
async def value_of(result: T | Pending[T]) -> T: ...


async def value_of(result: T | Pending[T]) -> T:
    """Raises what the Pending fails with; abandons it when the caller is cancelled."""
    if not isinstance(result, Pending):
        return result
    if result.resolved:
        there: list[T] = []
        result.then(there.append)
        return there[0]
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def resolve(value: T) -> None:
        if not future.done():
            future.set_result(value)

    def fail(fault: Exception) -> None:
        if not future.done():
            future.set_exception(fault)

    result.then(resolve, fail)
    try:
        return await future
    except asyncio.CancelledError:
        result.abandon()
        raise


async def when_loaded(action: Callable[[], T]) -> T:
    """Repeats an action that may raise NotInMemory before it has any effect."""
    while True:
        try:
            return action()
        except NotInMemory as later:
            await value_of(later.loading)


@overload
async def outcome_of(change: Callable[[], Pending[T]]) -> T: ...


@overload
async def outcome_of(change: Callable[[], T | Pending[T]]) -> T: ...


async def outcome_of(change: Callable[[], T | Pending[T]]) -> T:
    """The result of a change that may have to wait for the right to it, and its commit."""
    return await value_of(await when_loaded(change))


async def only(change: Callable[[], list[T | BrokerError] | Pending[list[T | BrokerError]]]) -> T:
    """The only result of a change, as `outcome_of`; raises it if it is an error."""
    [each] = await outcome_of(change)
    if isinstance(each, BrokerError):
        raise each
    return each
