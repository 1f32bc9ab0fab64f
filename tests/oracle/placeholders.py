"""Placeholders for values that differ between brokers: ids, ports, clocks, names of topics."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Timestamps of scenarios are earlier; those of a broker's clock are between these two.
NOW_FROM_MS = 1_750_000_000_000
LATER_MS = 3_000_000_000_000

_MILLISECONDS = re.compile(r"-?\d{13,19}")
_PRODUCER = re.compile(r"(producer (?:id )?|producerId[ =:]*)(\d+)")


class Placeholders:
    """Of one run of one scenario; numbers values in the order of its responses."""

    def __init__(self) -> None:
        self._topics: dict[str, str] = {}
        self._ids: dict[bytes, str] = {}
        self._literals: set[bytes] = set()
        self._producers: dict[int, str] = {}
        self._sessions: dict[int, str] = {}
        self._members: dict[str, str] = {}
        self._our_members: set[str] = set()

    def add_name(self, name: str, short: str) -> None:
        self._topics[name] = f"<{short}>"

    def add_id(self, topic_id: bytes, name: str | None) -> None:
        if any(topic_id) and topic_id not in self._ids and topic_id not in self._literals:
            number = len(self._ids) + 1
            known = self._topics.get(name or "")
            self._ids[topic_id] = f"<id of {known[1:-1]}>" if known else f"<id {number}>"

    def add_literals(self, topic_ids: Iterable[bytes]) -> None:
        """Ids that a scenario invents: the same with every broker."""
        self._literals.update(one for one in topic_ids if one not in self._ids)

    def add_member(self, member_id: str) -> None:
        if member_id and member_id not in self._our_members:
            self._members.setdefault(member_id, f"<member {len(self._members) + 1}>")

    def add_members_of_ours(self, member_ids: Iterable[str | None]) -> None:
        """Member ids that a scenario invents have no placeholder."""
        self._our_members.update(one for one in member_ids if one and one not in self._members)

    def add_producer(self, producer_id: int) -> None:
        if producer_id >= 0:
            self._producers.setdefault(producer_id, f"<producer {len(self._producers) + 1}>")

    def topic_id(self, topic_id: bytes) -> str:
        return self._ids.get(topic_id, topic_id.hex() if any(topic_id) else "none")

    def is_producer(self, producer_id: int) -> bool:
        return producer_id in self._producers

    def producer(self, producer_id: int) -> str | int:
        return self._producers.get(producer_id, producer_id)

    def session(self, session_id: int, is_response: bool) -> str | int:
        if session_id and is_response:
            self._sessions.setdefault(session_id, f"<session {len(self._sessions) + 1}>")
        return self._sessions.get(session_id, session_id)

    def text(self, text: str) -> str:
        for name in sorted(self._topics, key=len, reverse=True):
            text = text.replace(name, self._topics[name])
        for member_id, named in self._members.items():
            text = text.replace(member_id, named)
        text = _PRODUCER.sub(lambda m: f"{m[1]}{self.producer(int(m[2]))}", text)
        return _MILLISECONDS.sub(lambda m: str(moment(int(m[0]))), text)

    def octets(self, data: bytes) -> bytes:
        """Replaces topic names in bytes too: in the subscription of a member."""
        for name in sorted(self._topics, key=len, reverse=True):
            data = data.replace(name.encode(), self._topics[name].encode())
        return data

    def is_own(self, name: str) -> bool:
        return name in self._topics


def moment(timestamp_ms: int) -> str | int:
    if timestamp_ms < -NOW_FROM_MS:
        return "<long ago>"
    return "<now>" if NOW_FROM_MS <= timestamp_ms < LATER_MS else timestamp_ms
