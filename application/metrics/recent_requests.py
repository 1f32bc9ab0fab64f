"""RecentRequests: the newest requests that were answered, for whoever asks what has just happened.

One tuple a request, in a ring: nothing of the request or its answer is kept but numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Protocol

from application.ports.request_log import ClientInfo, RequestRecord
from domain.topics.topic import text_of_id

#: Others may run after so many.
LOOKED_AT_ONCE = 200
#: What failed or was slow stays so long, whatever else is asked.
KEPT_SECONDS = 300
SECOND_NS = 1_000_000_000
MS_NS = 1_000_000

#: The name of the topic with an id, where there is one.
TopicNames = Callable[[bytes], str | None]


def nobody_knows(topic_id: bytes) -> str | None:
    return None


class Asked(Protocol):
    """Which API in which version; the route of a request, where it is one of Kafka's."""

    @property
    def title(self) -> str: ...

    @property
    def version(self) -> int: ...


#: What was asked, correlation id, client, topics, what else it concerns (a topic by its name or its
#: id: whoever looks may know the name), bytes in and out, each
#: error code once, and the times of RequestRecord: received, started, decoded, handled, answered,
#: sent; and what is added to these to have them by the wall clock.
Noted = tuple[
    Asked, int, ClientInfo, int, "tuple[str, str | bytes] | None", int, int,
    "tuple[int, ...] | None", int, int, int, int, int, int, int,
]  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What is looked for; None: whatever it is."""

    correlation_id: int | None = None
    client_id: str | None = None
    api: str | None = None
    only_errors: bool = False
    slower_than_ns: int = 0


class RecentRequests:
    """The newest; and as many of those that failed or were slow, which stay for minutes."""

    def __init__(
        self, limit: int, error_names: Mapping[int, str], topic_name: TopicNames = nobody_knows
    ) -> None:
        self._noted: deque[Noted] = deque(maxlen=limit)
        self._troubled: deque[Noted] = deque(maxlen=limit)
        self._error_names = error_names
        self._topic_name = topic_name
        #: Takes one more; the oldest goes.
        self.add: Callable[[Noted], None] = self._noted.append
        #: Of this second: how many more are kept for minutes, and what kinds there were.
        self._second = -1
        self._left = 0
        self._kinds: set[tuple[Asked, ClientInfo, tuple[int, ...] | None]] = set()
        self._a_second = max(limit // KEPT_SECONDS, 2)

    def __len__(self) -> int:
        return len(self._noted) + len(self._troubled)

    def add_troubled(self, noted: Noted) -> None:
        """Where there are very many, one kind of failure leaves room for the others."""
        second = noted[13] // SECOND_NS
        if second != self._second:
            self._second = second
            self._left = self._a_second
            self._kinds.clear()
        kind = noted[0], noted[2], noted[7]
        if self._left > (self._a_second // 2 if kind in self._kinds else 0):
            self._left -= 1
            self._kinds.add(kind)
            self._troubled.append(noted)
        else:
            self._noted.append(noted)

    def find(self, wanted: Wanted) -> Iterator[list[RequestRecord]]:
        """The newest first: what is found among so many, then among so many more."""
        newest = merge(
            list(reversed(self._noted)), list(reversed(self._troubled)), key=_sent_ns, reverse=True
        )
        while some := list(islice(newest, LOOKED_AT_ONCE)):
            yield [self.record_of(one) for one in some if _is_wanted(one, wanted)]

    def record_of(self, noted: Noted, elapsed_ns: int | None = None) -> RequestRecord:
        record = RequestRecord()
        (
            asked, record.correlation_id, record.client, record.topics, about,
            record.bytes_in, record.bytes_out, codes, record.received_ns, record.started_ns,
            record.decoded_ns, record.handled_ns, record.answered_ns, record.sent_ns, wall_ns,
        ) = noted  # fmt: skip
        record.sent_ms = (record.sent_ns + wall_ns) // MS_NS
        record.about = None if about is None else self._named(*about)
        record.api, record.api_version = asked.title, asked.version
        record.error_codes = codes or ()
        record.error_names = tuple(self._error_names[code] for code in record.error_codes)
        took_ns = record.sent_ns - record.received_ns
        record.elapsed_ns = took_ns if elapsed_ns is None else elapsed_ns
        return record

    def _named(self, field: str, value: str | bytes) -> tuple[str, str]:
        if isinstance(value, str):
            return field, value
        name = self._topic_name(value)
        return (field, name) if name is not None else ("topic_id", text_of_id(value))


def _is_wanted(noted: Noted, wanted: Wanted) -> bool:
    asked, correlation_id, client = noted[:3]
    return (
        (wanted.correlation_id is None or correlation_id == wanted.correlation_id)
        and (wanted.client_id is None or client.client_id == wanted.client_id)
        and (wanted.api is None or asked.title.lower() == wanted.api.lower())
        and (not wanted.only_errors or noted[7] is not None)
        and noted[13] - noted[8] >= wanted.slower_than_ns
    )


def _sent_ns(noted: Noted) -> int:
    return noted[13]
