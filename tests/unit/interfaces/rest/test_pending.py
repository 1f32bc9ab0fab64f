from __future__ import annotations

import asyncio

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending, resolved
from interfaces.rest.pending import value_of, when_loaded


def test_a_resolved_value_is_returned_at_once() -> None:
    assert asyncio.run(value_of(7)) == 7
    assert asyncio.run(value_of(resolved(7))) == 7


def test_a_pending_value_is_awaited() -> None:
    async def story() -> str:
        pending: Pending[str] = Pending()
        waiting = asyncio.ensure_future(value_of(pending))
        await asyncio.sleep(0)
        assert not waiting.done()
        pending.resolve("there")
        return await waiting

    assert asyncio.run(story()) == "there"


def test_cancelling_abandons_the_pending_value() -> None:
    async def story() -> None:
        pending: Pending[str] = Pending()
        waiting = asyncio.ensure_future(value_of(pending))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        pending.resolve("too late")

    asyncio.run(story())


@pytest.mark.parametrize("at_once", [True, False])
def test_the_error_of_a_pending_value_is_raised(at_once: bool) -> None:
    async def story() -> None:
        pending: Pending[str] = Pending()
        if at_once:
            pending.fail(ZeroDivisionError())
        waiting = asyncio.ensure_future(value_of(pending))
        await asyncio.sleep(0)
        if not at_once:
            pending.fail(ZeroDivisionError())
        with pytest.raises(ZeroDivisionError):
            await waiting

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
