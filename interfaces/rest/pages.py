"""Pages of a long list, each with the URL of the next."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar
from urllib.parse import quote

from fastapi import Depends, Query

T = TypeVar("T")

MOST = 10_000


class Page:
    """`size` elements, or all, after the one with the key `token`."""

    def __init__(self, size: int | None, token: str | None) -> None:
        self._size = size
        self._token = token

    def of(
        self, elements: Sequence[T], key: Callable[[T], str], url: str
    ) -> tuple[Sequence[T], str | None]:
        """`elements` in the order of their keys; returns this page and the URL of the next."""
        first = 0
        if self._token is not None:
            first = bisect_right(elements, self._token, key=key)
        if self._size is None:
            return elements[first:], None
        end = first + self._size
        if end >= len(elements):
            return elements[first:], None
        page = elements[first:end]
        token = quote(key(page[-1]), safe="")
        return page, f"{url}?page_size={self._size}&page_token={token}"


def index_key(index: int) -> str:
    """Sorts as text in the order of the numbers."""
    return f"{index:010d}"


async def _page(
    page_size: Annotated[int | None, Query(ge=1, le=MOST)] = None,
    page_token: Annotated[str | None, Query(max_length=500)] = None,
) -> Page:
    """A coroutine: FastAPI calls plain functions in a thread."""
    return Page(page_size, page_token)


Paged = Annotated[Page, Depends(_page)]
