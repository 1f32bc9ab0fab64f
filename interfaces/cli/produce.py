"""`ottla produce`: sends lines, files or formatted records, and waits for acknowledgements."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.format import Headers, Reader, literal, quoted
from interfaces.cli.json_lines import facts_of
from interfaces.cli.moments import milliseconds
from interfaces.cli.output import note
from interfaces.cli.progress import Progress
from interfaces.cli.refusals import why_refused

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer

#: The broker enforces the real limit.
_LARGEST_MESSAGE = 1_000_000_000


def produce(parsed: argparse.Namespace) -> int:
    _sort_out_words(parsed)
    source = _Source(parsed)
    clients = Clients(parsed)
    producer = clients.producer(**producer_options(parsed, clients))
    # Before stdin is read: a producer reports a wrong port only after --timeout.
    clients.metadata(producer)
    sending = Sending(clients, producer)
    try:
        for facts in source.records(parsed):
            sending.send(**facts)
    finally:
        sending.finish()
        if sending.count and not parsed.quiet:
            note(sending.summary())
    return 0


def _sort_out_words(parsed: argparse.Namespace) -> None:
    """The first word is the topic, as in rpk, unless -t or -f says what the topic is."""
    if parsed.first is None:
        return
    if parsed.topic is not None or "t" in Reader(parsed.format or "%v\n").letters:
        parsed.files.insert(0, parsed.first)
    elif "/" in parsed.first or os.path.isfile(parsed.first):
        raise UsageError(
            f"{parsed.first} is ambiguous: -t {parsed.first} for a topic, or "
            f"-t TOPIC {parsed.first} for a file"
        )
    else:
        parsed.topic = parsed.first


def producer_options(parsed: argparse.Namespace, clients: Clients) -> dict[str, Any]:
    options: dict[str, Any] = {
        "acks": parsed.acks,
        "linger_ms": 5,
        "compression_type": parsed.compression,
        "message_max_bytes": _LARGEST_MESSAGE,
        "message_timeout_ms": max(1, int(clients.timeout_s * 1000)),
    }
    if parsed.acks == "all" and not clients.options.keys() & {"acks", "enable.idempotence"}:
        # Retries cause no duplicates and no reordering.
        options["enable_idempotence"] = True
    return options


class Sending:
    """Counts acknowledged records and stores the first error."""

    def __init__(self, clients: Clients, producer: Producer) -> None:
        self._clients = clients
        self._producer = producer
        self._offsets: dict[tuple[str, int], tuple[int, int, int]] = {}
        self.count = 0
        self._refused: KafkaError | None = None
        #: Topic and partition of the refused record.
        self._place: tuple[str, int] = ("", 0)

    def send(self, topic: str, **facts: Any) -> None:
        from confluent_kafka import KafkaException

        while True:
            try:
                self._producer.produce(topic, on_delivery=self._delivered, **facts)
                break
            except BufferError:
                self._producer.poll(0.1)
                if not self.count:
                    self._clients.diagnose_silence()
            except OverflowError:
                raise UsageError("a partition or timestamp is out of range") from None
            except KafkaException as failure:
                place = (topic, facts.get("partition", -1))
                self._refuse(failure.args[0], place)
                break
        self._producer.poll(0)
        if self._refused is not None:
            raise CommandFailed(self._why())

    def finish(self) -> None:
        """Waits until all records are acknowledged or failed (`message.timeout.ms`)."""
        ends_well = sys.exc_info()[0] is None
        self._clients.flush(self._producer, is_silent=ends_well and not self.count)
        if self._refused is not None and ends_well:
            raise CommandFailed(self._why())

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self._refuse(error, (message.topic(), message.partition()))
            return
        self.count += 1
        place = (message.topic(), message.partition())
        offset = message.offset()
        first, last, count = self._offsets.get(place, (offset, offset, 0))
        self._offsets[place] = (min(first, offset), max(last, offset), count + 1)

    def _refuse(self, error: KafkaError, place: tuple[str, int]) -> None:
        if self._refused is None:
            self._refused, self._place = error, place

    def _why(self) -> str:
        assert self._refused is not None
        from confluent_kafka import KafkaError

        topic, partition = self._place
        if self._refused.code() == KafkaError._UNKNOWN_PARTITION:
            return f"{topic} has no partition {partition}"
        return why_refused(self._clients, self._refused, topic)

    def summary(self) -> str:
        records = "1 record" if self.count == 1 else f"{self.count} records"
        places = [
            f"{topic}-{partition}" + (f" @ {first}" if first == last else f" @ {first}-{last}")
            for (topic, partition), (first, last, _) in sorted(self._offsets.items())
        ]
        if len(places) > 8:
            places = [*places[:8], f"{len(places) - 8} more partitions"]
        return f"{records} produced{': ' if places else ''}{', '.join(places)}"


class _Source:
    """Reads records: fields of the options, and of each line or file."""

    def __init__(self, parsed: argparse.Namespace) -> None:
        if parsed.format is not None and parsed.key_delimiter is not None:
            raise UsageError("use %k in -f instead of -K")
        if parsed.key_delimiter == "":
            raise UsageError("-K needs a delimiter")
        if parsed.key is not None and parsed.key_delimiter is not None:
            raise UsageError("-k is the key of every record, -K splits each line: use one of them")
        text_only = (parsed.format, parsed.key_delimiter, parsed.key, parsed.tombstone or None)
        if parsed.json_lines and any(one is not None for one in text_only):
            raise UsageError("--json-lines has keys and values: leave out -f, -K, -k and -Z")
        if parsed.keep_partitions and (not parsed.json_lines or parsed.partition is not None):
            raise UsageError("--keep-partitions is for --json-lines without -p")
        self.is_json = parsed.json_lines
        self.keeps_partitions = parsed.keep_partitions
        self.delimiter = literal(parsed.key_delimiter) if parsed.key_delimiter else None
        self.reader = Reader(parsed.format if parsed.format is not None else "%v\n")
        if parsed.topic is None and "t" not in self.reader.letters and not self.is_json:
            raise UsageError("no topic: ottla produce TOPIC, -t TOPIC, or %t in -f")
        self.topic = parsed.topic
        self.key = None if parsed.key is None else parsed.key.encode()
        self.headers: Headers = [(k, v.encode()) for k, v in parsed.header or ()]
        self.partition = parsed.partition
        self.tombstones = parsed.tombstone
        self.timestamp_ms = None if parsed.timestamp is None else _timestamp(parsed.timestamp)

    def records(self, parsed: argparse.Namespace) -> Iterator[dict[str, Any]]:
        for number, raw in enumerate(_raw_records(parsed, self.reader), 1):
            facts = self._json_facts(raw["v"], number) if self.is_json else self._facts(raw)
            if headers := self.headers + facts.pop("headers"):
                facts["headers"] = headers
            yield facts

    def _json_facts(self, line: bytes, number: int) -> dict[str, Any]:
        facts = facts_of(line, number)
        if not self.keeps_partitions:
            facts.pop("partition", None)
        given = {"topic": self.topic, "partition": self.partition, "timestamp": self.timestamp_ms}
        facts |= {name: value for name, value in given.items() if value is not None}
        if "topic" not in facts:
            raise UsageError(f"input line {number} has no topic: -t TOPIC")
        return facts

    def _facts(self, raw: dict[str, bytes]) -> dict[str, Any]:
        value, key = raw.get("v", raw.get("s")), raw.get("k", self.key)
        if self.delimiter is not None and value is not None and self.delimiter in value:
            key, _, value = value.partition(self.delimiter)
        if self.tombstones:
            value, key = value or None, key or None
        facts: dict[str, Any] = {
            "topic": _text(raw["t"], "topic") if "t" in raw else self.topic,
            "value": value,
            "key": key,
            "headers": _headers(raw.get("h", b"")),
        }
        partition = _number(raw["p"], "partition") if "p" in raw else self.partition
        if partition is not None:
            facts["partition"] = partition
        timestamp = _number(raw["T"], "timestamp") if "T" in raw else self.timestamp_ms
        if timestamp is not None:
            facts["timestamp"] = timestamp
        return facts


def _raw_records(parsed: argparse.Namespace, reader: Reader) -> Iterable[dict[str, bytes]]:
    if not parsed.files:
        # Unbuffered: a typed line is sent at once.
        yield from reader.records(lambda size: os.read(sys.stdin.fileno(), size))
        return
    with Progress("produce", _size_bytes(parsed.files)) as progress:
        for name in parsed.files:
            try:
                if parsed.lines or parsed.json_lines or parsed.format is not None:
                    with Path(name).open("rb") as opened:
                        yield from reader.records(_counted(opened.read, progress))
                else:
                    value = Path(name).read_bytes()
                    yield {"v": value}
                    progress.step(len(value))
            except OSError as failure:
                raise CommandFailed(f"{name}: {failure.strerror}") from None


def _size_bytes(names: list[str]) -> int:
    return sum(Path(name).stat().st_size for name in names if os.path.isfile(name))


def _counted(read: Callable[[int], bytes], progress: Progress) -> Callable[[int], bytes]:
    def counting(size: int) -> bytes:
        data = read(size)
        progress.step(len(data))
        return data

    return counting


def _headers(raw: bytes) -> Headers:
    found: Headers = []
    for one in raw.split(b",") if raw else ():
        name, _, value = one.partition(b"=")
        found.append((_text(name, "header"), value))
    return found


def _text(raw: bytes, what: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise UsageError(f"the {what} {quoted(raw)} is not UTF-8") from None


def _number(raw: bytes, what: str) -> int:
    if not raw.isdigit():
        raise UsageError(f"the {what} {quoted(raw)} is not a number")
    return int(raw)


def _timestamp(text: str) -> int:
    try:
        return milliseconds(text.removeprefix("@"), int(time.time() * 1000))
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None
