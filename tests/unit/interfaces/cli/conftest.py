from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """A command sets handlers for the whole process."""
    yield from restored_handlers()


@pytest.fixture(autouse=True, scope="module")
def signals_of_fixtures() -> Iterator[None]:
    """The same for commands that prepare a whole module."""
    yield from restored_handlers()


def restored_handlers() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
