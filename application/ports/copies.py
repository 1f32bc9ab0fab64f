"""Copies: how many a store has of each record that it acknowledges."""

from __future__ import annotations

from typing import Protocol


class Copies(Protocol):
    @property
    def count(self) -> int:
        """As of the last look; at least 1."""
        ...

    def look(self) -> None:
        """To be called now and then. Does not wait: the count changes later."""
        ...
