"""A tail as server-sent events: records, positions and keep-alive comments.

    event: position   data: {}          id: 0:15,1:7      the next offset of each partition
    event: record     data: {...}                         as in a page of records
    event: end        data: {"reason": ...}               the last event
    : alive                                               after SILENCE_SECONDS without records

A browser that reconnects sends the newest id, and the tail continues from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import orjson

from application.records.tail import Tail, Tailed
from domain.errors import BrokerError
from interfaces.rest.errors import message_of
from interfaces.rest.pending import value_of

SILENCE_SECONDS = 10.0
_RETRY = b"retry: 2000\n\n"
_ALIVE = b": alive\n\n"


async def events_of(
    tail: Tail,
    stopping: asyncio.Event,
    silence_seconds: float = SILENCE_SECONDS,
    failed: Callable[[BrokerError], object] = lambda failure: None,
) -> AsyncGenerator[bytes, None]:
    stopped = asyncio.ensure_future(stopping.wait())
    coming: asyncio.Future[Tailed] | None = None
    try:
        yield _RETRY + _position(tail)
        while True:
            if coming is None:
                coming = asyncio.ensure_future(value_of(tail.next()))
            await asyncio.wait(
                (coming, stopped), timeout=silence_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if coming.done():
                tailed, coming = coming.result(), None
                if not isinstance(tailed, bytes):
                    if tailed is not None:
                        failed(tailed)
                    yield _STOPPED if tailed is None else end_event(message_of(tailed))
                    return
                yield _records(tailed) + _position(tail)
            elif stopped.done():
                yield _STOPPED
                return
            else:
                yield _ALIVE
    finally:
        stopped.cancel()
        if coming is not None:
            coming.cancel()
        tail.close()


def _records(lines: bytes) -> bytes:
    return b"".join(b"event: record\ndata: %b\n\n" % line for line in lines.splitlines())


def _position(tail: Tail) -> bytes:
    places = ",".join(f"{index}:{offset}" for index, offset in tail.positions().items())
    return f"event: position\nid: {places}\ndata: {{}}\n\n".encode()


def end_event(reason: str) -> bytes:
    return b"event: end\ndata: %b\n\n" % orjson.dumps({"reason": reason})


_STOPPED = end_event("the broker is stopping, or the topic is gone")
