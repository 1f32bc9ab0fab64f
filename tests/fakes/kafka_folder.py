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
