"""The log folder of a real Kafka 4.2: see tests/golden/capture_kafka_folder.py."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from base64 import b85decode
from functools import cache
from pathlib import Path
from typing import Any

from infrastructure.kafka_folder.folder import KafkaFolder
from tests.fakes.batches import TIMESTAMP, record_batch

FOLDER = Path(__file__).parents[1] / "golden" / "kafka_folder" / "folder.txt"
EXPECTED = "expected.json"


@cache
def _archive() -> bytes:
    return lzma.decompress(b85decode(FOLDER.read_text().replace("\n", "")))


def unpacked(place: Path) -> Path:
    """The folder, in a place of its own."""
    with tarfile.open(fileobj=io.BytesIO(_archive())) as archive:
        archive.extractall(place, filter="data")
    return place / "data"


def expected_of(place: Path) -> dict[str, Any]:
    """What clients of that Kafka read, as `tests/e2e/kafka_folder/reading.py` does."""
    found: dict[str, Any] = json.loads((place / EXPECTED).read_text())
    return found


def append_records(
    folder: Path,
    topic: str,
    *records: bytes | tuple[bytes, bytes | None],
    offset: int | None = None,
) -> None:
    """Appends a batch to the active segment of partition 0: values, or keys and values."""
    place = topic, 0
    with KafkaFolder(folder) as opened:
        log = opened.log(place)
        end_offset = max((batch.last_offset + 1 for _, batch in log.batches()), default=0)
    base_offset = end_offset if offset is None else offset
    rows: list[Any] = [one if isinstance(one, bytes) else (*one, [], TIMESTAMP) for one in records]
    path = log.segments[-1].path
    path.write_bytes(path.read_bytes() + record_batch(rows, base_offset=base_offset))
    set_recovery_point(folder, topic, base_offset + len(records))


def enlarge(folder: Path, topic: str, megabytes: int) -> None:
    """Appends batches of one record of 1 MB to the active segment of partition 0."""
    place = topic, 0
    with KafkaFolder(folder) as opened:
        log = opened.log(place)
        end_offset = max(batch.last_offset + 1 for _, batch in log.batches())
    with log.segments[-1].path.open("ab") as file:
        for number in range(megabytes):
            value = b"%d " % number * (1_000_000 // len(b"%d " % number))
            file.write(record_batch([value], base_offset=end_offset + number))
    set_recovery_point(folder, topic, end_offset + megabytes)


def set_recovery_point(folder: Path, topic: str, offset: int, partition: int = 0) -> None:
    """The end of the log when Kafka stopped."""
    path = folder / "recovery-point-offset-checkpoint"
    lines = path.read_text().splitlines()
    place = f"{topic} {partition} "
    lines = [f"{place}{offset}" if one.startswith(place) else one for one in lines]
    path.write_text("\n".join(lines) + "\n")
