"""The memory of large answers while the transport sends them piece by piece.

The transport reports what it has left to send. Of an answer that is sent in part, all is in memory
until the rest is sent.
"""

from __future__ import annotations


class LargeAnswers:
    __slots__ = ("_largest_bytes", "_written_bytes")

    def __init__(self) -> None:
        #: Since all was sent the last time: together, and the largest.
        self._written_bytes = self._largest_bytes = 0

    def written(self, size_bytes: int, left_bytes: int) -> None:
        """Before it is handed to the transport, which has so much left of earlier ones."""
        if not left_bytes:
            self._written_bytes = self._largest_bytes = 0
        self._written_bytes += size_bytes
        self._largest_bytes = max(self._largest_bytes, size_bytes)

    def sent_bytes(self, left_bytes: int) -> int:
        """At the most so much has been sent and is still in memory."""
        if not left_bytes or not self._largest_bytes:
            return 0
        return min(max(self._written_bytes - left_bytes, 0), self._largest_bytes)
