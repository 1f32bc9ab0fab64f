"""Records requests of clients and responses of a real Kafka, as API/captured.jsonl beside this.

The recorder is a proxy at the address that Kafka advertises. README.md says how to run it. A few
small examples of each API, version and client are written; each has something that the smaller
ones lack.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import struct
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from interfaces.kafka.wire.structs import Struct
from tests.golden.clients import aio, confluent
from tests.golden.frames import (
    FOLDER,
    NAMES,
    error_codes,
    message_of,
    request_body,
    request_header,
    response_body,
)

#: Longer exchanges are omitted, unless there is no other.
LONG_BYTES = 4000
#: The client id of all our clients.
CLIENT_ID = b"golden"
#: The sender of frames with another client id.
KAFKA = "kafka-4.2.0"
BY_KEY = {message_of(name, "request").api_key: name for name in NAMES}
#: The maximum for each API, version and client.
MAX_EXAMPLES = 8


@dataclass(frozen=True)
class Exchange:
    name: str
    version: int
    client: str
    request: bytes
    response: bytes | None

    @property
    def size(self) -> int:
        return len(self.request) + len(self.response or b"")

    def errors(self) -> list[int]:
        return error_codes(decoded(self, "response")) if self.response else []


Waiting: TypeAlias = "dict[int, Exchange]"


class Recorder:
    def __init__(self) -> None:
        self.client = ""
        self.exchanges: list[Exchange] = []

    async def listen(self, at: int, broker: int) -> None:
        async def connected(source: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
            responses, to = await asyncio.open_connection("127.0.0.1", broker)
            waiting: Waiting = {}
            try:
                await asyncio.gather(
                    self.requests(source, to, waiting), self.responses(responses, back, waiting)
                )
            except asyncio.CancelledError:  # the end of the capture
                pass

        await asyncio.start_server(connected, "127.0.0.1", at, limit=1 << 20)

    async def requests(
        self, source: asyncio.StreamReader, to: asyncio.StreamWriter, waiting: Waiting
    ) -> None:
        async for frame in frames(source, to):
            key, number, correlation_id, client_id = request_header(frame)
            if key not in BY_KEY or number < message_of(BY_KEY[key], "request").min_version:
                continue
            # Kafka's own senders come this way too.
            client = self.client if client_id == CLIENT_ID else KAFKA
            exchange = Exchange(BY_KEY[key], number, client, frame, None)
            if exchange.name == "produce" and decoded(exchange, "request").acks == 0:
                self.exchanges.append(exchange)
            else:
                waiting[correlation_id] = exchange

    async def responses(
        self, source: asyncio.StreamReader, to: asyncio.StreamWriter, waiting: Waiting
    ) -> None:
        async for frame in frames(source, to):
            exchange = waiting.pop(int.from_bytes(frame[:4], "big", signed=True), None)
            if exchange:
                self.exchanges.append(replace(exchange, response=frame))


async def frames(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> AsyncIterator[bytes]:
    """Every frame, after it is forwarded."""
    try:
        while True:
            size = await source.readexactly(4)
            frame = await source.readexactly(int.from_bytes(size, "big"))
            yield frame
            to.write(size + frame)
            await to.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        to.close()


def shown(exchange: Exchange) -> set[tuple[Any, ...]]:
    """The features of an exchange: nulls, flags, special numbers, errors, codecs."""
    found = set(features("request", decoded(exchange, "request")))
    if exchange.response is not None:
        found |= set(features("response", decoded(exchange, "response")))
    return found


def decoded(exchange: Exchange, direction: str) -> Any:
    message = message_of(exchange.name, direction)
    if direction == "request":
        frame = exchange.request
        _, _, start = request_body(frame)
    else:
        frame = exchange.response or b""
        start = response_body(message, exchange.version, frame)
    return message.decode(exchange.version, frame, start)[0]


def features(path: str, value: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, Struct):
        for field in type(value).fields_:
            yield from features(f"{path}.{field}", getattr(value, field))
    elif isinstance(value, list):
        yield path, min(len(value), 2)
        for one in value:
            yield from features(path, one)
    elif isinstance(value, int):
        plain = path.endswith(("error_code", "key_type")) or -10 < value < 1
        yield path, value if plain else "many"
    elif isinstance(value, str):
        yield path, "text" if value else ""
    elif path.endswith("records") and value:
        attributes, producer_id = struct.unpack_from(">xhiqqq", value, 20)[0:4:3]
        yield path, attributes, producer_id >= 0
    else:
        yield path, value is None


def chosen(exchanges: list[Exchange]) -> Iterator[Exchange]:
    """Of one API, version and client: the smallest ones, each with a new feature."""
    seen: set[tuple[Any, ...]] = set()
    count = 0
    for exchange in sorted(exchanges, key=lambda exchange: exchange.size):
        new = shown(exchange) - seen
        if new and count < MAX_EXAMPLES and (exchange.size <= LONG_BYTES or not count):
            count += 1
            seen |= new
            yield exchange


def write(exchanges: list[Exchange]) -> None:
    for name in NAMES:
        groups: dict[tuple[int, str], list[Exchange]] = defaultdict(list)
        for exchange in exchanges:
            if exchange.name == name:
                groups[exchange.version, exchange.client].append(exchange)
        lines = [
            json.dumps(
                {
                    "version": exchange.version,
                    "client": exchange.client,
                    "errors": exchange.errors(),
                    "request": exchange.request.hex(),
                    "response": exchange.response.hex() if exchange.response else None,
                }
            )
            for group in sorted(groups)
            for exchange in chosen(groups[group])
        ]
        if lines:
            (FOLDER / name / "captured.jsonl").write_text("\n".join(lines) + "\n")
        print(f"{name:32} {len(lines):4} of {sum(map(len, groups.values())):5}")


async def external(*command: str | Path) -> None:
    process = await asyncio.create_subprocess_exec(*map(str, command))
    try:
        await asyncio.wait_for(process.wait(), 180)
    except TimeoutError:
        print(f"  {command[0]}: stopped after 180 s")
        process.kill()
        await process.wait()


async def capture(arguments: argparse.Namespace) -> None:
    recorder = Recorder()
    await recorder.listen(arguments.plain[0], arguments.plain[1])
    await recorder.listen(arguments.sasl[0], arguments.sasl[1])
    address, sasl_address = (f"127.0.0.1:{pair[0]}" for pair in (arguments.plain, arguments.sasl))
    clients = FOLDER / "clients"

    async def java(jars: Path, program: str, *more: str) -> None:
        number = next(jars.glob("kafka-clients-*.jar")).stem.removeprefix("kafka-clients-")
        recorder.client = f"java-{number}"
        script = clients / f"{program}.java"
        await external("java", "-cp", f"{jars}/*", script, address, *more)

    for jars, name in zip(arguments.java, ("java-a", "java-b"), strict=False):
        print(name)
        await java(jars, "Client", sasl_address, name)
    for name, program in (("confluent-kafka", confluent.run), ("aiokafka", aio.run)):
        print(name)
        recorder.client = f"{name}-{version(name)}"
        if program is aio.run:
            await aio.run(address, sasl_address)
        else:
            await asyncio.to_thread(confluent.run, address, sasl_address)
    if arguments.node_modules:
        recorder.client = "kafkajs-2.2.4"
        script = arguments.node_modules.parent / "golden-kafkajs.js"
        script.write_text((clients / "kafkajs.js").read_text())
        await external("node", script, address, sasl_address)
        script.unlink()
    recorder.client = "kcat-1.7.1"
    await external(clients / "kcat.sh", address)
    write(recorder.exchanges)


def ports(text: str) -> tuple[int, int]:
    advertised, bound = text.split(":")
    return int(advertised), int(bound)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    help_ports = "ADVERTISED:BOUND port of Kafka's listener"
    parser.add_argument("--plain", type=ports, required=True, help=help_ports)
    parser.add_argument("--sasl", type=ports, required=True, help=help_ports)
    parser.add_argument("--java", type=Path, action="append", default=[], help="folder of jars")
    parser.add_argument("--node-modules", type=Path, help="folder with kafkajs")
    asyncio.run(capture(parser.parse_args()))
