from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

import orjson
import pytest

from interfaces.rest import slices


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 100])
def test_nothing_is_lost_between_slices(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE_NS", 0)
    numbers = list(range(count))
    assert asyncio.run(slices.all_of(iter(numbers))) == numbers
    monkeypatch.setattr(slices, "PIECE_BYTES", 20)
    assert orjson.loads(b"".join(asyncio.run(pieces(numbers)))) == numbers


async def pieces(elements: Iterable[object]) -> list[bytes]:
    return [piece async for piece in slices.encoded(iter(elements))]


def test_what_is_handed_on_at_once_is_not_large() -> None:
    handed = asyncio.run(pieces("x" * 1000 for _ in range(1000)))
    assert sum(map(len, handed)) > 1_000_000
    assert max(map(len, handed)) < slices.PIECE_BYTES + 2 * slices.ELEMENTS * 1000


@pytest.mark.parametrize("work", [slices.all_of, pieces])
def test_others_get_their_turns_between_slices(
    work: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never more than a few elements are made in one turn of the loop."""
    monkeypatch.setattr(slices, "SLICE_NS", 0)
    turn = 0
    turns: list[int] = []

    def elements() -> Iterator[int]:
        for number in range(1000):
            turns.append(turn)
            yield number

    async def story() -> None:
        nonlocal turn
        working = asyncio.ensure_future(work(elements()))  # type: ignore[operator]
        while not working.done():
            turn += 1
            await asyncio.sleep(0)
        await working

    asyncio.run(story())
    assert max(turns.count(one) for one in set(turns)) <= slices.ELEMENTS + 1
