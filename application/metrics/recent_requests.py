"""RecentRequests: the newest completed requests, for /requestz and the console.

One tuple of numbers and names for each; neither the request nor its response is retained.
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

#: Records that are searched before other jobs may run.
LOOKED_AT_ONCE = 200
#: How long failed and slow requests stay.
KEPT_SECONDS = 300
#: The most HTTP requests.
MOST_HTTP = 1000
#: What idle consumers send all the time.
POLLING = frozenset({"Fetch", "Heartbeat", "ConsumerGroupHeartbeat"})
#: In place of the name of an API: all HTTP requests.
HTTP = "http"
SECOND_NS = 1_000_000_000

#: Topic id -> name, if the topic exists.
TopicNames = Callable[[bytes], str | None]


@dataclass(frozen=True)
class RequestQuery:
    """A filter; None: any."""

    correlation_id: str | None = None
    client_id: str | None = None
    api: str | None = None
    only_errors: bool = False
    #: Without waiting for data or other members, as in log.requests.slow.ms.
    slower_than_ns: int = 0
    #: The only topic that the request names.
    topic: str | None = None
    #: With successful requests of POLLING.
    polling: bool = True

    def fits(self, record: RequestRecord) -> bool:
        failed = bool(record.error_codes)
        return (
            self.correlation_id in (None, str(record.correlation_id))
            and (self.client_id is None or record.client.client_id == self.client_id)
            and (self.api is None or self.api.lower() in _names(record.kind))
            and (failed or not self.only_errors)
            and record.elapsed_ns >= self.slower_than_ns
            and (self.topic is None or record.log_subject == ("topic", self.topic))
            and (self.polling or failed or record.kind.title not in POLLING)
        )


def _names(kind: RequestKind) -> tuple[str, ...]:
    return (kind.title.lower(),) if kind.version is not None else (kind.title.lower(), HTTP)


class RecentRequests:
    """Three rings: the newest requests; those that failed or were slow, of which each second has a
    share: they stay for five minutes, however many others there are; and HTTP requests.
    """

    def __init__(self, limit: int, topic_name: TopicNames) -> None:
        self._newest: deque[RequestRecord] = deque(maxlen=limit)
        self._troubled: deque[RequestRecord] = deque(maxlen=limit)
        self._http: deque[RequestRecord] = deque(maxlen=min(limit, MOST_HTTP))
        self._topic_name = topic_name
        self.add: Callable[[RequestRecord], None] = self._newest.append
        self.add_http: Callable[[RequestRecord], None] = self._http.append
        self._second = -1
        #: Of this second: how many more may enter the second ring.
        self._left = 0
        #: Failures of this second that are in the second ring.
        self._failures: set[tuple[RequestKind, ClientInfo, tuple[int, ...]]] = set()
        self._a_second = max(limit // KEPT_SECONDS, 2)

    def __len__(self) -> int:
        return len(self._newest) + len(self._troubled)

    def add_troubled(self, record: RequestRecord) -> None:
        """A repeated failure (API, client and errors) gets at most half of a second's share."""
        second = record.sent_ns // SECOND_NS
        if second != self._second:
            self._second, self._left = second, self._a_second
            self._failures.clear()
        failure = record.kind, record.client, record.error_codes
        if self._left > (self._a_second // 2 if failure in self._failures else 0):
            self._left -= 1
            self._failures.add(failure)
            self._troubled.append(record)
        else:
            self._newest.append(record)

    def find(self, query: RequestQuery) -> Iterator[list[RequestRecord]]:
        """The matches, newest first, a part for each few hundred records."""
        rings = [list(reversed(ring)) for ring in (self._newest, self._troubled, self._http)]
        newest = merge(*rings, key=attrgetter("sent_ns"), reverse=True)
        while some := list(islice(newest, LOOKED_AT_ONCE)):
            yield [one for one in map(self.named, some) if query.fits(one)]

    def named(self, record: RequestRecord) -> RequestRecord:
        """With the name of its topic in place of the id, if the topic still exists."""
        field, topic_id = record.log_subject or ("", "")
        if isinstance(topic_id, str):
            return record
        name = self._topic_name(topic_id)
        subject = ("topic_id", text_of_id(topic_id)) if name is None else (field, name)
        return record._replace(log_subject=subject)
