"""Lines about partitions: those of internal topics become one, unless `--internal`."""

from __future__ import annotations

from collections import Counter

from interfaces.cli.client import INTERNAL


class InternalTopics:
    def __init__(self, in_full: bool) -> None:
        self._in_full = in_full
        self._counts = Counter[str]()

    def folds(self, topic: str, what: str) -> bool:
        """Returns True if the partition is counted, as one that is `what`: it has no line."""
        if self._in_full or not topic.startswith(INTERNAL):
            return False
        self._counts[what] += 1
        return True

    def lines(self) -> list[str]:
        """One, or none."""
        if not self._counts:
            return []
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self._counts.items()))
        return [f"partitions of internal topics: {counts} (--internal names them)"]
