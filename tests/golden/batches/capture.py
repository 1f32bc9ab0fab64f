"""Records the batches that real clients send, as `CLIENT-CODEC.batch` beside this file.

Between client and broker stands a relay that looks at what goes to the broker: wherever a frame
holds a record batch (found by its CRC), that is a file. See README.md for how to run it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import struct
import subprocess
import tempfile
from base64 import b64decode
from pathlib import Path

from aiokafka import AIOKafkaProducer
from confluent_kafka import Producer
from crc32c import crc32c

HERE = Path(__file__).parent
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def batches_in(frame: bytes) -> list[bytes]:
    found = []
    at = frame.find(bytes(8))
    while at != -1 and at + 61 <= len(frame):
        length, magic, crc = struct.unpack_from(">i4xbI", frame, at + 8)
        batch = frame[at : at + 12 + length]
        if magic == 2 and length > 49 and crc32c(batch[21:]) == crc:
            found.append(batch)
            at += len(batch) - 1
        at = frame.find(bytes(8), at + 1)
    return found


class Relay:
    def __init__(self, listen: int, broker: int) -> None:
        self.listen = listen
        self.broker = broker
        self.batches: list[bytes] = []

    async def serve(self) -> asyncio.Server:
        return await asyncio.start_server(self.connected, "127.0.0.1", self.listen)

    async def connected(
        self, client_in: asyncio.StreamReader, client_out: asyncio.StreamWriter
    ) -> None:
        broker_in, broker_out = await asyncio.open_connection("127.0.0.1", self.broker)
        await asyncio.gather(
            self.requests(client_in, broker_out),
            self.responses(broker_in, client_out),
            return_exceptions=True,
        )

    async def requests(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        try:
            while True:
                size = await source.readexactly(4)
                frame = await source.readexactly(int.from_bytes(size, "big"))
                if frame[:2] == b"\0\0":
                    self.batches += batches_in(frame)
                to.write(size + frame)
                await to.drain()
        finally:
            to.close()

    async def responses(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                to.write(data)
                await to.drain()
        finally:
            to.close()


def rows() -> list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes]]]]:
    def unpacked(field: str | None) -> bytes | None:
        return None if field is None else b64decode(field)

    return [
        (
            row["timestamp"],
            unpacked(row["key"]),
            unpacked(row["value"]),
            [(name, b64decode(content)) for name, content in row["headers"]],
        )
        for row in json.loads((HERE / "records.json").read_text())
    ]


def confluent(address: str, topic: str, codec: str, settings: dict[str, object]) -> None:
    producer = Producer(
        {"bootstrap.servers": address, "compression.type": codec, "linger.ms": 500, **settings}
    )
    for timestamp, key, value, headers in rows():
        producer.produce(topic, value, key, 0, timestamp=timestamp, headers=list(headers))
    producer.flush(20)


async def aiokafka(address: str, topic: str, codec: str) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=address,
        compression_type=None if codec == "none" else codec,
        linger_ms=500,
        max_batch_size=1_000_000,
    )
    await producer.start()
    sent = [
        await producer.send(topic, value, key, 0, timestamp, headers)
        for timestamp, key, value, headers in rows()
    ]
    await asyncio.gather(*sent)
    await producer.stop()


def external(*command: str) -> None:
    subprocess.run(command, check=True, timeout=60, stdout=subprocess.DEVNULL)


async def capture(arguments: argparse.Namespace) -> None:
    relay = Relay(arguments.relay, arguments.broker)
    server = await relay.serve()
    address = f"127.0.0.1:{arguments.relay}"
    topic = "golden"

    def keep(name: str) -> None:
        batches = [batch for batch in relay.batches if len(batch) > 100]
        assert len(batches) == 1, (name, [len(batch) for batch in relay.batches])
        (HERE / f"{name}.batch").write_bytes(batches[0])
        print(f"{name:24} {len(batches[0]):6} bytes")
        relay.batches.clear()

    records = str(HERE / "records.json")
    for codec in CODECS:
        await asyncio.to_thread(confluent, address, topic, codec, {})
        keep(f"confluent-{codec}")
        await aiokafka(address, topic, codec)
        keep(f"aiokafka-{codec}")
        if arguments.java:
            await asyncio.to_thread(
                external, "java", "-cp", f"{arguments.java}/*", str(HERE / "Capture.java"),
                address, topic, codec, records,
            )  # fmt: skip
            keep(f"java-{codec}")
    await asyncio.to_thread(confluent, address, topic, "none", {"enable.idempotence": True})
    keep("confluent-idempotent")
    if arguments.node_modules:
        with tempfile.TemporaryDirectory() as folder:
            script = shutil.copy(HERE / "capture.js", folder)
            (Path(folder) / "node_modules").symlink_to(arguments.node_modules.absolute())
            for codec in ["none", "gzip", "snappy"]:
                await asyncio.to_thread(external, "node", script, address, topic, codec, records)
                keep(f"kafkajs-{codec}")
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--broker", type=int, required=True, help="port the broker listens on")
    parser.add_argument("--relay", type=int, required=True, help="port the broker advertises")
    parser.add_argument("--java", type=Path, help="folder of Kafka's jars")
    parser.add_argument("--node-modules", type=Path, help="folder with kafkajs, kafkajs-snappy")
    asyncio.run(capture(parser.parse_args()))
