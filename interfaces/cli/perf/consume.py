"""`ottla perf consume`: the lines of kafka-consumer-perf-test."""

from __future__ import annotations

import argparse
import time
import uuid
from datetime import datetime
from typing import Any

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import note
from interfaces.cli.progress import Progress

HEAD = (
    "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
    "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)
_MEGABYTE = 1024 * 1024
_AT_ONCE = 1000


def consume(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    consumer = clients.consumer(
        group_id=parsed.group or f"perf-consumer-{uuid.uuid4().hex[:8]}",
        auto_offset_reset="earliest",
        enable_partition_eof=False,
    )
    try:
        clients.partitions(consumer, parsed.topic)
        print(HEAD, flush=True)
        _measure(clients, consumer, parsed)
    finally:
        consumer.close()
    return 0


def _measure(clients: Clients, consumer: Any, parsed: argparse.Namespace) -> None:
    timeout_s = clients.timeout_s
    joined: list[float] = []
    start, began = datetime.now(), time.monotonic()
    consumer.subscribe([parsed.topic], on_assign=lambda *_: joined.append(time.monotonic()))
    count = size_bytes = 0
    last = began
    with Progress("consume", parsed.number) as progress:
        while count < parsed.number:
            messages = consumer.consume(min(_AT_ONCE, parsed.number - count), 0.1)
            now = time.monotonic()
            for message in messages:
                if message.error() is not None:
                    if message.error().retriable():
                        continue
                    raise CommandFailed(f"{parsed.topic}: {message.error().str()}")
                count += 1
                size_bytes += len(message.value() or b"") + len(message.key() or b"")
            progress.step(len(messages))
            if not joined:
                clients.diagnose_silence()
            if messages:
                last = now
            elif now - last > timeout_s:
                note(
                    f"WARNING: Exiting before consuming the expected number of records: timeout "
                    f"({timeout_s * 1000:.0f} ms) exceeded. You can use the --timeout option."
                )
                break
    print(line(start, last - began, (joined or [began])[0] - began, count, size_bytes), flush=True)


def line(start: datetime, seconds: float, join_s: float, count: int, size_bytes: int) -> str:
    seconds = max(seconds, 1e-3)
    fetch_s = max(seconds - join_s, 1e-3)
    end = datetime.fromtimestamp(start.timestamp() + seconds)
    megabytes = size_bytes / _MEGABYTE
    return (
        f"{_clock(start)}, {_clock(end)}, {megabytes:.4f}, {megabytes / seconds:.4f}, {count}, "
        f"{count / seconds:.4f}, {join_s * 1000:.0f}, {fetch_s * 1000:.0f}, "
        f"{megabytes / fetch_s:.4f}, {count / fetch_s:.4f}"
    )


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}:{moment.microsecond // 1000:03d}"
