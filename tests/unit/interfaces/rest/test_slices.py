from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

import orjson
import pytest

from application.background.runner import SLICE_NS
from interfaces.rest import slices
from interfaces.rest.admin import Admin
from tests.fakes.admin import FakeAdmin

Work = Callable[[Admin, Iterable[object]], Coroutine[Any, Any, list[Any]]]


async def pieces(admin: Admin, elements: Iterable[object]) -> list[bytes]:
    return [piece async for piece in slices.encoded(admin, iter(elements))]


def done(work: Work, elements: Iterable[object], passed: Callable[[], object] = int) -> list[Any]:
    """The result on a loop where each step is a slice."""
    fake = FakeAdmin()
    fake.fake.clock.look_ns = SLICE_NS

    async def story() -> list[Any]:
        working = asyncio.ensure_future(work(fake.admin, elements))
        while not working.done():
            passed()
            fake.fake.scheduler.run_pass()
            await asyncio.sleep(0)
        return await working

    return asyncio.run(story())


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 100])
def test_slices_lose_no_element(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = list(range(count))
    assert done(slices.all_of, iter(numbers)) == numbers
    monkeypatch.setattr(slices, "PIECE_BYTES", 20)
    assert orjson.loads(b"".join(done(pieces, numbers))) == numbers


def test_pieces_are_bounded() -> None:
    handed = done(pieces, ("x" * 1000 for _ in range(1000)))
    assert sum(map(len, handed)) > 1_000_000
    assert max(map(len, handed)) < slices.PIECE_BYTES + 2 * slices.ELEMENTS * 1000


@pytest.mark.parametrize("work", [slices.all_of, pieces])
def test_other_work_runs_between_slices(work: Work) -> None:
    """One turn of the loop takes a few elements at most."""
    turn = 0
    turns: list[int] = []

    def elements() -> Iterator[int]:
        for number in range(1000):
            turns.append(turn)
            yield number

    def passed() -> None:
        nonlocal turn
        turn += 1

    done(work, elements(), passed)
    assert max(turns.count(one) for one in set(turns)) <= slices.ELEMENTS + 1
