"""RequestAccounting: counts, times and logs each request when its response is sent.

This is a hot path: each request passes once. All requests are counted, with their bytes and their
total time. The time of each stage (queue, decode, handle, wait, send) is recorded for 1,000
requests a second, and for failed and slow ones; docs/internals/performance.md has the cost.

Reading the clock costs more than counting. So a repeated produce request is timed stage by stage
only if the stages will be recorded or the request log may want them. Otherwise only its arrival and
its departure are known; if it fails or is slow, the time between is logged as waiting, and counts
in no stage histogram.
"""

from __future__ import annotations

from collections import deque
from time import perf_counter_ns, time_ns

from application.metrics.recent_requests import RecentRequests, TopicNames
from application.ports.request_log import REMEMBERED_CHARACTERS, RequestLog, RequestRecord
from application.security.client_quotas import ClientQuotas
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.error_codes import NAMES
from interfaces.kafka.wire.structs import Pieces

#: Requests whose stages are recorded: this many more with each tenth of a second, and at most one
#: second's worth at once.
DETAILED_A_TENTH = 100
DETAILED_AT_ONCE = 10 * DETAILED_A_TENTH
TENTH_NS = 100_000_000


class RequestAccounting:
    def __init__(
        self, log: RequestLog, recent_max: int, topic_name: TopicNames, quotas: ClientQuotas
    ) -> None:
        self._log = log
        self._quick_ns = log.quick_ns
        self._slow_ns = log.slow_ns
        self._noted_ns = min(log.quick_ns, log.slow_ns)
        self._quotas = quotas
        self._log_needs_times = log.quick_ns <= log.slow_ns
        self._always_timed = self._log_needs_times
        self._left = DETAILED_AT_ONCE
        self._tenth_ends_ns = 0
        #: The wall clock minus the performance counter, read once in each tenth of a second.
        self._wall_ns = 0
        self.recent = RecentRequests(recent_max, topic_name)
        self._add = self.recent.add
        #: Whether the stages of requests that begin now are timed.
        self.timed = True

    def take(self, replies: deque[Call]) -> tuple[int, Pieces]:
        """Takes the completed responses from the head of `replies`: their size, and their bytes."""
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
        # request_percentage counts times.
        self._always_timed = self._log_needs_times or not self._quotas.unlimited
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
            getattr(call, "throttle_ms", 0),
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
