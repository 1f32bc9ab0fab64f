"""Traffic: what was asked of a bucket since the start; providers bill requests and bytes."""

from __future__ import annotations

import threading
from collections import Counter

WRITE, READ, DELETE, LIST = "write", "read", "delete", "list"
REQUESTS = (WRITE, READ, DELETE, LIST)


class Traffic:
    """Counted in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.size_bytes: Counter[str] = Counter()

    def count(self, what: str, size_bytes: int = 0) -> None:
        with self._lock:
            self.requests[what] += 1
            self.size_bytes[what] += size_bytes

    def failed(self, what: str) -> None:
        with self._lock:
            self.requests[what] += 1
            self.failures[what] += 1
