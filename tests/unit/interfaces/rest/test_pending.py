from __future__ import annotations

import asyncio
from contextlib import nullcontext
from functools import partial

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from domain.errors import BrokerError, InvalidRequest
from interfaces.rest.pending import only, value_of, when_loaded


def test_a_resolved_value_is_returned_at_once() -> None:
    assert asyncio.run(value_of(7)) == 7


async def waiting_for(pending: Pending[str]) -> asyncio.Task[str]:
    waiting = asyncio.ensure_future(value_of(pending))
    await asyncio.sleep(0)
    return waiting


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_a_pending_value_or_its_error_is_awaited(fails: bool, at_once: bool) -> None:
    async def story() -> None:
        pending: Pending[str] = Pending()
        end = partial(pending.fail, ZeroDivisionError()) if fails else partial(pending.resolve, "x")
        if at_once:
            end()
        waiting = await waiting_for(pending)
        if not at_once:
            assert not waiting.done()
            end()
        with pytest.raises(ZeroDivisionError) if fails else nullcontext():
            assert await waiting == "x"

    asyncio.run(story())


def test_cancelling_abandons_the_pending_value() -> None:
    async def story() -> None:
        pending: Pending[str] = Pending()
        waiting = await waiting_for(pending)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        pending.resolve("too late")

    asyncio.run(story())


def test_an_action_is_repeated_when_its_pages_are_loaded() -> None:
    async def story() -> int:
        loading: Pending[None] = Pending()

        def action() -> int:
            if not loading.resolved:
                raise NotInMemory(loading)
            return 7

        waiting = asyncio.ensure_future(when_loaded(action))
        await asyncio.sleep(0)
        loading.resolve(None)
        return await waiting

    assert asyncio.run(story()) == 7


def test_the_only_result_of_a_change_is_awaited() -> None:
    async def story() -> int:
        loading: Pending[None] = Pending()
        committed: Pending[list[int | BrokerError]] = Pending()

        def change() -> Pending[list[int | BrokerError]]:
            if not loading.resolved:
                raise NotInMemory(loading)
            return committed

        waiting = asyncio.ensure_future(only(change))
        for resolve in (partial(loading.resolve, None), partial(committed.resolve, [7])):
            await asyncio.sleep(0)
            assert not waiting.done()
            resolve()
        return await waiting

    assert asyncio.run(story()) == 7


def test_the_only_result_of_a_change_is_raised_if_it_is_an_error() -> None:
    with pytest.raises(InvalidRequest):
        asyncio.run(only(lambda: [InvalidRequest()]))
