from __future__ import annotations

import asyncio
from typing import Any

from interfaces.rest.responses import large
from interfaces.rest.slices import PIECE_BYTES


def test_a_large_response_is_sent_in_pieces_and_does_not_block_the_loop() -> None:
    parts = [b"[", b"x" * (3 * PIECE_BYTES + 1), b"]"]
    sent: list[Any] = []
    others = 0

    scope = {"type": "http", "asgi": {"spec_version": "2.3"}}

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def other() -> None:
        nonlocal others
        while True:
            others += 1
            await asyncio.sleep(0)

    async def story() -> None:
        busy = asyncio.ensure_future(other())
        await large(parts, {"x-a": "b"})(scope, receive, send)
        busy.cancel()

    asyncio.run(story())
    start, *bodies = sent
    headers = dict(start["headers"])
    assert headers[b"content-type"] == b"application/json" and headers[b"x-a"] == b"b"
    assert headers[b"content-length"] == b"%d" % sum(map(len, parts))
    assert b"".join(each["body"] for each in bodies) == b"".join(parts)
    assert max(len(each["body"]) for each in bodies) == PIECE_BYTES
    assert others >= len(bodies) - 1
    assert not bodies[-1].get("more_body", False)
