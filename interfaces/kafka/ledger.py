"""Ledger: what is noted of every request, when its answer is ready to leave.

Each passes here once, so what stands here is paid for by every request. All are counted, with their
bytes and how long they took. Where that time went is noted of so many a second, which are all
unless much is asked, and of those that failed or were slow: docs/performance.md has what it costs.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

from application.metrics.recent_requests import RecentRequests, record_of
from application.ports.request_log import REMEMBERED_CHARACTERS, RequestLog
from interfaces.kafka.error_codes import NAMES

if TYPE_CHECKING:
    from interfaces.kafka.call import Call

#: Requests of one second, the first ones, of which it is noted where their time went.
DETAILED_A_SECOND = 5_000
SECOND_NS = 1_000_000_000


class Ledger:
    __slots__ = ("_add", "_left", "_log", "_quick_ns", "_second_ends_ns", "recent")

    def __init__(self, log: RequestLog, recent_max: int) -> None:
        self._log = log
        self._quick_ns = log.quick_ns
        self._left = 0
        self._second_ends_ns = 0
        self.recent = RecentRequests(recent_max, NAMES)
        self._add = self.recent.add

    def note(self, answered: list[Call]) -> int:
        """How many bytes the answers are together."""
        now_ns = perf_counter_ns()
        if now_ns >= self._second_ends_ns:
            self._second_ends_ns = now_ns + SECOND_NS
            self._left = DETAILED_A_SECOND
        size_bytes = 0
        for call in answered:
            counts = call.route.counts
            bytes_out = call.bytes_out
            size_bytes += bytes_out
            counts.bytes_in += call.bytes_in
            counts.bytes_out += bytes_out
            took_ns = now_ns - call.received_ns
            counts.total_ns += took_ns
            counts.total[took_ns.bit_length()] += 1
            if self._left > 0 or call.error_codes is not None or took_ns >= self._quick_ns:
                self._left -= 1
                self._note_details(call, now_ns, took_ns)
        return size_bytes

    def _note_details(self, call: Call, now_ns: int, took_ns: int) -> None:
        route = call.route
        codes = None if call.error_codes is None else tuple(dict.fromkeys(call.error_codes))
        received_ns, started_ns, decoded_ns = call.received_ns, call.started_ns, call.decoded_ns
        handled_ns, answered_ns = call.handled_ns, call.answered_ns
        counts = route.counts
        counts.detailed += 1
        ns = started_ns - received_ns
        counts.queue_ns += ns
        counts.queue[ns.bit_length()] += 1
        ns = decoded_ns - started_ns
        counts.decode_ns += ns
        counts.decode[ns.bit_length()] += 1
        ns = handled_ns - decoded_ns
        counts.handle_ns += ns
        counts.handle[ns.bit_length()] += 1
        ns = now_ns - answered_ns
        counts.send_ns += ns
        counts.send[ns.bit_length()] += 1
        ns = answered_ns - handled_ns
        counts.wait_ns += ns
        counts.wait[ns.bit_length()] += 1
        about = call.about
        if about is not None and len(about[1]) > REMEMBERED_CHARACTERS:
            about = about[0], about[1][:REMEMBERED_CHARACTERS]
        noted = (
            route, call.correlation_id, call.peer.client, call.topics, about, call.bytes_in,
            call.bytes_out, codes, received_ns, started_ns, decoded_ns, handled_ns, answered_ns,
            now_ns,
        )  # fmt: skip
        self._add(noted)
        if codes is not None:
            counts.note_errors(codes)
        if route.waits_for_others:
            took_ns -= ns
        failed = codes is not None
        if (failed or took_ns >= self._quick_ns) and self._log.wants(took_ns, failed):
            self._log.write(record_of(noted, NAMES, took_ns))
