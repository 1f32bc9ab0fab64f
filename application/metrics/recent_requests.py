"""RecentRequests: the newest requests that were answered, for whoever asks what has just happened.

One tuple a request, in a ring: nothing of the request or its answer is kept but numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from application.ports.request_log import ClientInfo, RequestRecord

#: Others may run after so many.
LOOKED_AT_ONCE = 200


class Asked(Protocol):
    """Which API in which version; the route of a request, where it is one of Kafka's."""

    @property
    def title(self) -> str: ...

    @property
    def version(self) -> int: ...


#: What was asked, correlation id, client, topics, what else it concerns, bytes in and out, each
#: error code once, and the times of RequestRecord: received, started, decoded, handled, answered,
#: sent.
Noted = tuple[
    Asked, int, ClientInfo, int, "tuple[str, str] | None", int, int, "tuple[int, ...] | None",
    int, int, int, int, int, int,
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
    def __init__(self, limit: int, error_names: Mapping[int, str]) -> None:
        self._noted: deque[Noted] = deque(maxlen=limit)
        self._error_names = error_names
        #: Takes one more; the oldest goes.
        self.add: Callable[[Noted], None] = self._noted.append

    def __len__(self) -> int:
        return len(self._noted)

    def find(self, wanted: Wanted) -> Iterator[list[RequestRecord]]:
        """The newest first: what is found among so many, then among so many more."""
        newest = list(reversed(self._noted))
        for start in range(0, len(newest), LOOKED_AT_ONCE):
            some = newest[start : start + LOOKED_AT_ONCE]
            yield [record_of(one, self._error_names) for one in some if _is_wanted(one, wanted)]


def _is_wanted(noted: Noted, wanted: Wanted) -> bool:
    asked, correlation_id, client = noted[:3]
    return (
        (wanted.correlation_id is None or correlation_id == wanted.correlation_id)
        and (wanted.client_id is None or client.client_id == wanted.client_id)
        and (wanted.api is None or asked.title.lower() == wanted.api.lower())
        and (not wanted.only_errors or noted[7] is not None)
        and noted[13] - noted[8] >= wanted.slower_than_ns
    )


def record_of(
    noted: Noted, error_names: Mapping[int, str], elapsed_ns: int | None = None
) -> RequestRecord:
    record = RequestRecord()
    (
        asked, record.correlation_id, record.client, record.topics, record.about,
        record.bytes_in, record.bytes_out, codes, record.received_ns, record.started_ns,
        record.decoded_ns, record.handled_ns, record.answered_ns, record.sent_ns,
    ) = noted  # fmt: skip
    record.api, record.api_version = asked.title, asked.version
    record.error_codes = codes or ()
    record.error_names = tuple(error_names[code] for code in record.error_codes)
    took_ns = record.sent_ns - record.received_ns
    record.elapsed_ns = took_ns if elapsed_ns is None else elapsed_ns
    return record
