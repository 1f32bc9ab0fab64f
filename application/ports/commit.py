"""Commit: makes all that was staged durable at once, or none of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from domain.errors import StorageFailed


class Commit(Protocol):
    def commit(self, done: Callable[[StorageFailed | None], None]) -> None:
        """Commits what log and state store have staged, under the engine's flush policy.

        `done` is called once, in this call or later on the same thread: with None when all is
        kept, with the failure when nothing is. What is staged while a commit is under way belongs
        to the next one; a failure forgets that too. The caller starts no second commit before
        `done`.
        """
        ...

    def close(self) -> None:
        """Forgets what is staged, flushes what is committed, and releases the store."""
        ...
