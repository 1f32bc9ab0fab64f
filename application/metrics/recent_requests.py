"""RecentRequests: the newest requests that were answered, for whoever asks what has just happened.

One tuple a request, in a ring: nothing of the request or its answer is kept but numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from operator import attrgetter

from application.ports.request_log import ClientInfo, RequestKind, RequestRecord
from domain.topics.topic import text_of_id

#: Others may run after so many.
LOOKED_AT_ONCE = 200
#: What failed or was slow stays so long, whatever else is asked.
KEPT_SECONDS = 300
SECOND_NS = 1_000_000_000

#: The name of the topic with an id, where there is one.
TopicNames = Callable[[bytes], str | None]


@dataclass(frozen=True)
class Wanted:
    """What is looked for; None: whatever it is."""

    correlation_id: int | None = None
    client_id: str | None = None
    api: str | None = None
    only_errors: bool = False
    slower_than_ns: int = 0

    def fits(self, record: RequestRecord) -> bool:
        return (
            (self.correlation_id is None or record.correlation_id == self.correlation_id)
            and (self.client_id is None or record.client.client_id == self.client_id)
            and (self.api is None or record.kind.title.lower() == self.api.lower())
            and (not self.only_errors or bool(record.error_codes))
            and record.sent_ns - record.received_ns >= self.slower_than_ns
        )


class RecentRequests:
    """The newest; and as many of those that failed or were slow, which stay for minutes."""

    def __init__(self, limit: int, topic_name: TopicNames) -> None:
        self._newest: deque[RequestRecord] = deque(maxlen=limit)
        self._troubled: deque[RequestRecord] = deque(maxlen=limit)
        self._topic_name = topic_name
        #: Takes one more; the oldest goes.
        self.add: Callable[[RequestRecord], None] = self._newest.append
        #: Of this second: how many more are kept for minutes, and what kinds there were.
        self._second = -1
        self._left = 0
        self._kinds: set[tuple[RequestKind, ClientInfo, tuple[int, ...]]] = set()
        self._a_second = max(limit // KEPT_SECONDS, 2)

    def __len__(self) -> int:
        return len(self._newest) + len(self._troubled)

    def add_troubled(self, record: RequestRecord) -> None:
        """Where there are very many, one kind of failure leaves room for the others."""
        second = record.sent_ns // SECOND_NS
        if second != self._second:
            self._second = second
            self._left = self._a_second
            self._kinds.clear()
        kind = record.kind, record.client, record.error_codes
        if self._left > (self._a_second // 2 if kind in self._kinds else 0):
            self._left -= 1
            self._kinds.add(kind)
            self._troubled.append(record)
        else:
            self._newest.append(record)

    def find(self, wanted: Wanted) -> Iterator[list[RequestRecord]]:
        """The newest first: what is found among so many, then among so many more."""
        both = [list(reversed(self._newest)), list(reversed(self._troubled))]
        newest = merge(*both, key=attrgetter("sent_ns"), reverse=True)
        while some := list(islice(newest, LOOKED_AT_ONCE)):
            yield [self.named(one) for one in some if wanted.fits(one)]

    def named(self, record: RequestRecord) -> RequestRecord:
        """With the name of its topic in place of an id, as far as that is known now."""
        field, topic_id = record.log_subject or ("", "")
        if isinstance(topic_id, str):
            return record
        name = self._topic_name(topic_id)
        subject = ("topic_id", text_of_id(topic_id)) if name is None else (field, name)
        return record._replace(log_subject=subject)
