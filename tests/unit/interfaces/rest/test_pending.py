from __future__ import annotations

import asyncio

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending, resolved
from interfaces.rest.pending import value_of, when_loaded


def test_a_value_that_is_there_is_not_waited_for() -> None:
    assert asyncio.run(value_of(7)) == 7
    assert asyncio.run(value_of(resolved(7))) == 7


def test_a_value_that_comes_later_is_waited_for() -> None:
    async def story() -> str:
        pending: Pending[str] = Pending()
        waiting = asyncio.ensure_future(value_of(pending))
        await asyncio.sleep(0)
        assert not waiting.done()
        pending.resolve("there")
        return await waiting

    assert asyncio.run(story()) == "there"


def test_who_goes_away_abandons_it() -> None:
    async def story() -> None:
        pending: Pending[str] = Pending()
        waiting = asyncio.ensure_future(value_of(pending))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        pending.resolve("nobody is there")

    asyncio.run(story())


@pytest.mark.parametrize("at_once", [True, False])
def test_a_fault_is_raised(at_once: bool) -> None:
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


def test_what_has_to_be_loaded_is_done_again_when_it_is() -> None:
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
