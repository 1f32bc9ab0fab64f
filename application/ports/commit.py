"""Commit: makes all staged changes durable together, or none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from domain.errors import StorageFailed


class Commit(Protocol):
    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        """Commits what log and state store have staged, under the engine's flush policy.

        `done` is called once, in this call or later on the same thread: with None when all is
        persisted, with the failure when nothing is. With `waits` it is called in this call.
        Changes that are staged during a commit belong to the next one; a failure discards them too.
        The caller starts no second commit before `done`, and maybe in it.
        """
        ...

    def close(self) -> None:
        """Discards staged changes, flushes committed ones, and releases the store.

        Each later commit fails: a client may wait for what was discarded.
        """
        ...


def at_once(commit: Callable[[Callable[[StorageFailed | None], None]], None]) -> None:
    """For a `commit` that calls back within the call. Raises StorageFailed."""
    outcome: list[StorageFailed | None] = []
    commit(outcome.append)
    if outcome[0] is not None:
        raise outcome[0]
