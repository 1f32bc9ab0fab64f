"""End markers are those of Kafka's classes (end_markers/Markers.java)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from domain.messages.batch import RecordBatch
from domain.messages.control import EndMarker, end_marker, read_end_marker
from infrastructure.codecs.checksum import crc32c

RECORDED = Path(__file__).parent / "end_markers" / "kafka.jsonl"


@pytest.mark.parametrize("row", list(map(json.loads, RECORDED.read_text().splitlines())))
def test_an_end_marker_has_the_bytes_of_kafka(row: dict[str, Any]) -> None:
    marker = EndMarker(*row["marker"])
    batch = end_marker(marker, row["timestamp"], crc32c)
    batch.set_offset(row["offset"], row["leader_epoch"])
    assert batch.buffer.hex() == row["batch"]
    assert read_end_marker(RecordBatch(memoryview(bytes.fromhex(row["batch"])))) == marker
