"""RequestAccounting: what is noted of every request, when its answer is ready to leave.

Each passes here once, so what stands here is paid for by every request. All are counted, with their
bytes and how long they took. Where that time went is noted of so many a second, which are all
unless much is asked, and of those that failed or were slow: docs/performance.md has what it costs.

To look at the clock costs more than to count. So a produce request that repeats an earlier one is
looked at on its way only where it will be noted, or the log may ask for it. Beyond that it is known
when it came and when its answer leaves; where it fails or is slow all the same, the time between is
said to be one of waiting, and is no stage of any histogram.
"""

from __future__ import annotations

from collections import deque
from time import perf_counter_ns, time_ns

from application.metrics.recent_requests import RecentRequests, TopicNames
from application.ports.request_log import REMEMBERED_CHARACTERS, RequestLog, RequestRecord
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.error_codes import NAMES
from interfaces.kafka.wire.structs import Pieces

#: So many more requests, with every tenth of a second, of which it is noted where their time went;
#: and no more than a second's worth at once.
DETAILED_A_TENTH = 100
DETAILED_AT_ONCE = 10 * DETAILED_A_TENTH
TENTH_NS = 100_000_000


class RequestAccounting:
    def __init__(self, log: RequestLog, recent_max: int, topic_name: TopicNames) -> None:
        self._log = log
        self._quick_ns = log.quick_ns
        self._slow_ns = log.slow_ns
        self._noted_ns = min(log.quick_ns, log.slow_ns)
        self._always_timed = log.quick_ns <= log.slow_ns
        self._left = DETAILED_AT_ONCE
        self._tenth_ends_ns = 0
        #: Added to a reading of the counter it is a time by the wall clock, as that goes just now.
        self._wall_ns = 0
        self.recent = RecentRequests(recent_max, topic_name)
        self._add = self.recent.add
        #: Whether requests that begin now are to be looked at closely.
        self.timed = True

    def take(self, replies: deque[Call]) -> tuple[int, Pieces]:
        """Answers that may leave, from the head of the line: how many bytes, and the bytes."""
        now_ns = perf_counter_ns()
        if now_ns >= self._tenth_ends_ns:
            self._begin_tenth(now_ns)
        size_bytes = 0
        out: Pieces | None = None
        while replies and (pieces := replies[0].pieces) is not None:
            call = replies.popleft()
            if out is None:
                out = pieces
            else:
                out += pieces
            counts = call.route.counts
            bytes_out = call.bytes_out
            size_bytes += bytes_out
            counts.bytes_in += call.bytes_in
            counts.bytes_out += bytes_out
            took_ns = now_ns - call.received_ns
            total = counts.total
            total.sum += took_ns
            total.places[took_ns.bit_length()] += 1
            if (
                (call.started_ns and self._left > 0)
                or took_ns >= self._noted_ns
                or call.error_codes is not None
            ):
                self._note_details(call, now_ns, took_ns)
        return size_bytes, out or []

    def _begin_tenth(self, now_ns: int) -> None:
        tenths = 1 + (now_ns - self._tenth_ends_ns) // TENTH_NS
        self._tenth_ends_ns = now_ns + TENTH_NS
        self._wall_ns = time_ns() - perf_counter_ns()
        self._left = min(max(self._left, 0) + tenths * DETAILED_A_TENTH, DETAILED_AT_ONCE)
        self.timed = self._left > 0 or self._always_timed

    def _note_details(self, call: Call, now_ns: int, took_ns: int) -> None:
        self._left -= 1
        if self._left <= 0:
            self.timed = self._always_timed
        route = call.route
        codes = tuple(dict.fromkeys(call.error_codes or ()))
        counts = route.counts
        if call.started_ns:
            completed_ns = call.completed_ns
            ends_ns = call.started_ns, call.decoded_ns, call.handled_ns, completed_ns, now_ns
            begun_ns = call.received_ns
            for durations, end_ns in zip(counts.stages.values(), ends_ns, strict=True):
                ns = end_ns - begun_ns
                durations.sum += ns
                durations.places[ns.bit_length()] += 1
                begun_ns = end_ns
        else:
            call.started_ns = call.decoded_ns = call.handled_ns = call.received_ns
            completed_ns = now_ns
        subject = call.log_subject
        if subject is not None and len(subject[1]) > REMEMBERED_CHARACTERS:
            subject = subject[0], subject[1][:REMEMBERED_CHARACTERS]
        record = RequestRecord(
            route, call.correlation_id, call.peer.client, call.topics, subject, call.bytes_in,
            call.bytes_out, codes, tuple(map(NAMES.__getitem__, codes)), call.received_ns,
            call.started_ns, call.decoded_ns, call.handled_ns, completed_ns, now_ns, self._wall_ns,
        )  # fmt: skip
        if codes:
            counts.errors.update(codes)
        if route.waits_for_others:
            took_ns -= completed_ns - call.handled_ns
        failed = bool(codes)
        if failed or took_ns >= self._slow_ns:
            self.recent.add_troubled(record)
        else:
            self._add(record)
        if (failed or took_ns >= self._quick_ns) and self._log.includes(took_ns, failed):
            self._log.write(self.recent.named(record))
