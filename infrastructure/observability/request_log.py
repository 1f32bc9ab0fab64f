"""The request log: which requests get a line, and the line."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from application.ports.event_log import EventLog
from application.ports.request_log import RequestRecord

NOBODY_IS_SO_SLOW_NS = 1 << 63
#: Of failed and slow requests of one host. Some clients repeat a failed request without a pause.
LINES_A_SECOND = 100
SECOND_NS = 1_000_000_000


class StructuredRequestLog:
    """`mode` is the setting log.requests; `sample` applies to successful, fast requests only."""

    __slots__ = (
        *("_countdown", "_log", "_mode", "_sample", "quick_ns", "slow_ns"),
        *("_second", "_troubled"),
    )

    def __init__(self, log: EventLog, mode: str, slow_ms: int, sample: int) -> None:
        self._log = log
        self._mode = mode
        self._sample = sample
        self._countdown = 1
        self._second = 0
        #: In this second, by host.
        self._troubled: Counter[str] = Counter()
        self.slow_ns = slow_ms * 1_000_000
        self.quick_ns = {"all": 0, "slow": self.slow_ns}.get(mode, NOBODY_IS_SO_SLOW_NS)

    def includes(self, elapsed_ns: int, failed: bool) -> bool:
        if failed:
            return self._mode != "off"
        if self._mode in ("off", "errors"):
            return False
        if elapsed_ns >= self.slow_ns:
            return True
        if self._mode != "all":
            return False
        self._countdown -= 1
        if self._countdown:
            return False
        self._countdown = self._sample
        return True

    def write(self, record: RequestRecord) -> None:
        client = record.client
        sent = datetime.fromtimestamp(record.sent_ms / 1000, UTC)
        total_ns = record.sent_ns - record.received_ns
        troubled = record.error_codes or record.elapsed_ns >= self.slow_ns
        if troubled and self._mode != "all" and self._are_too_many(client.peer, record.sent_ns):
            return
        subject: dict[str, object] = (
            {} if record.log_subject is None else dict((record.log_subject,))
        )
        throttled = {"throttle_ms": record.throttle_ms} if record.throttle_ms else {}
        if record.topics:
            subject["topics"] = record.topics
        (self._log.warning if troubled else self._log.info)(
            "request",
            time=sent.isoformat(timespec="milliseconds"),
            correlation_id=record.correlation_id,
            connection_id=client.connection_id,
            client_id=client.client_id,
            software=f"{client.software_name}/{client.software_version}".strip("/"),
            peer=client.peer,
            listener=client.listener,
            api=record.kind.title,
            version=record.kind.version,
            **subject,
            bytes_in=record.bytes_in,
            bytes_out=record.bytes_out,
            queue_us=(record.started_ns - record.received_ns) // 1000,
            decode_us=(record.decoded_ns - record.started_ns) // 1000,
            handle_us=(record.handled_ns - record.decoded_ns) // 1000,
            wait_us=(record.completed_ns - record.handled_ns) // 1000,
            send_us=(record.sent_ns - record.completed_ns) // 1000,
            total_us=total_ns // 1000,
            **throttled,
            errors=list(record.error_names),
            error_codes=list(record.error_codes),
        )

    def _are_too_many(self, peer: str, now_ns: int) -> bool:
        if now_ns // SECOND_NS != self._second:
            self._second = now_ns // SECOND_NS
            self._troubled.clear()
        host = peer.rpartition(":")[0]
        self._troubled[host] = count = self._troubled[host] + 1
        if count == LINES_A_SECOND + 1:
            self._log.warning("requests_not_logged", peer=host)
        return count > LINES_A_SECOND
