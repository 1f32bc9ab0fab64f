"""`ottla storage dump`: batches and records in the lines of kafka-dump-log, or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from domain.errors import BrokerError
from domain.messages.batch import (
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    RecordBatch,
    advance_sequence,
)
from domain.messages.control import read_end_marker
from domain.messages.message import Message, decode_messages
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from infrastructure.storage.engine import Storage
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import printable
from interfaces.cli.progress import Progress, stays_silent
from interfaces.cli.storage.opened import NotABatch, Place, batches, opened, places

_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_LARGEST_BATCH = 1 << 30


def dump(parsed: argparse.Namespace) -> int:
    with opened(parsed.store) as (storage, found):
        chosen = [
            place
            for place in places(found)
            if (parsed.topic is None or place.topic == parsed.topic)
            and (parsed.partitions is None or place.number in parsed.partitions)
        ]
        if not chosen and (parsed.topic is not None or parsed.partitions is not None):
            raise CommandFailed("the topic or partition does not exist in this store")
        with Progress("dump", storage.info.live_bytes, enabled=_all(parsed)) as progress:
            _dump(parsed, storage, chosen, progress)
    return 0


def _all(parsed: argparse.Namespace) -> bool:
    """Only then the total is known."""
    some = (parsed.topic, parsed.partitions, parsed.number, parsed.offset or None)
    return stays_silent() and all(one is None for one in some)


def _dump(
    parsed: argparse.Namespace, storage: Storage, chosen: list[Place], progress: Progress
) -> None:
    for place in chosen:
        if parsed.output == "text":
            print(f"Dumping {place}")
        left = sys.maxsize if parsed.number is None else parsed.number
        try:
            for batch in batches(storage.log, place.partition_id, parsed.offset):
                if not left:
                    break
                left -= 1
                progress.step(batch.size_bytes)
                if parsed.output == "text":
                    print("\n".join(_lines(batch, parsed.records)))
                else:
                    row = {"topic": place.topic, "partition": place.number}
                    row |= _facts(batch)
                    if parsed.records:
                        row["records"] = [_record(one) for one in _records(batch)]
                    print(json.dumps(row, ensure_ascii=False))
        except NotABatch as wrong:
            raise CommandFailed(f"{place}, offset {wrong.offset}: {wrong}") from None
        except BrokerError as damage:
            raise CommandFailed(f"{place}: {damage}") from None


def _facts(batch: RecordBatch) -> dict[str, Any]:
    last_sequence = batch.last_sequence if batch.base_sequence >= 0 else -1
    return {
        "baseOffset": batch.base_offset,
        "lastOffset": batch.last_offset,
        "count": batch.count,
        "baseSequence": batch.base_sequence,
        "lastSequence": last_sequence,
        "producerId": batch.producer_id,
        "producerEpoch": batch.producer_epoch,
        "partitionLeaderEpoch": batch.leader_epoch,
        "isTransactional": bool(batch.attributes & TRANSACTIONAL),
        "isControl": bool(batch.attributes & CONTROL),
        "deleteHorizonMs": -1 if batch.delete_horizon is None else batch.delete_horizon,
        _time_of(batch): batch.max_timestamp,
        "size": batch.size_bytes,
        "magic": batch.magic,
        "compresscodec": _CODECS[batch.codec] if batch.codec < len(_CODECS) else batch.codec,
        "crc": batch.crc,
        "isvalid": _is_valid(batch),
    }


def _is_valid(batch: RecordBatch) -> bool:
    try:
        batch.check_crc(crc32c)
    except BrokerError:
        return False
    return True


def _time_of(batch: RecordBatch) -> str:
    return "LogAppendTime" if batch.attributes & LOG_APPEND_TIME else "CreateTime"


def _lines(batch: RecordBatch, with_records: bool) -> Iterator[str]:
    yield " ".join(
        f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in _facts(batch).items()
    )
    if not with_records:
        return
    for one in _records(batch):
        sequence = -1
        if batch.base_sequence >= 0:
            sequence = advance_sequence(batch.base_sequence, one.offset - batch.base_offset)
        names = ",".join(_shown(name) for name, _ in one.headers)
        payload = "" if one.value is None else f" payload: {_shown(one.value)}"
        key = "" if one.key is None else f" key: {_shown(one.key)}"
        marker = read_end_marker(batch) if batch.attributes & CONTROL else None
        if marker is not None:
            ends = "COMMIT" if marker.committed else "ABORT"
            key = f" endTxnMarker: {ends} coordinatorEpoch: {marker.coordinator_epoch}"
            payload = ""
        yield (
            f"| offset: {one.offset} {_time_of(batch)}: {one.timestamp} "
            f"keySize: {_size(one.key)} valueSize: {_size(one.value)} sequence: {sequence} "
            f"headerKeys: [{names}]{key}{payload}"
        )


def _records(batch: RecordBatch) -> Iterator[Message]:
    payload = BatchCompression().decompress(batch.codec, batch.records, _LARGEST_BATCH)
    stamped = batch.max_timestamp if batch.attributes & LOG_APPEND_TIME else None
    return decode_messages(payload, batch.base_offset, batch.base_timestamp, batch.count, stamped)


def _record(one: Message) -> dict[str, Any]:
    return {
        "offset": one.offset,
        "timestamp": one.timestamp,
        "key": None if one.key is None else _text(one.key),
        "value": None if one.value is None else _text(one.value),
        "headers": {_text(name): value and _text(value) for name, value in one.headers},
    }


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _text(data: bytes) -> str:
    """Bytes that are not UTF-8 become \\xNN."""
    return data.decode("utf-8", "backslashreplace")


def _shown(data: bytes) -> str:
    return printable(_text(data))
