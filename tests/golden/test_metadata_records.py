"""Records of the metadata log are decoded as Kafka's own classes wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interfaces.kafka.wire.metadata_records import (
    RECORDS,
    WITHOUT_EFFECT,
    decode_metadata_record,
)
from interfaces.kafka.wire.primitives import MalformedRequest
from tests.golden.test_built import same

FILE = Path(__file__).parent / "metadata_records/built.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text().splitlines()]


def of(name: str) -> list[dict[str, Any]]:
    return [line for line in LINES if line["record"] == name]


@pytest.mark.parametrize("record", RECORDS.values(), ids=lambda record: record.__name__)
def test_a_record_has_the_fields_of_kafka_in_every_version(record: Any) -> None:
    lines = of(record.__name__)
    assert {line["version"] for line in lines} == set(range(record.max_version + 1))
    for line in lines:
        found = decode_metadata_record(bytes.fromhex(line["bytes"]))
        assert type(found) is record
        assert same(found, line["fields"]), (line, found)
        start = len(line["bytes"]) // 2 - len(b"".join(found.encode(line["version"])))
        assert b"".join(found.encode(line["version"])) == bytes.fromhex(line["bytes"])[start:]


@pytest.mark.parametrize("name", WITHOUT_EFFECT.values())
def test_a_record_about_brokers_has_no_effect(name: str) -> None:
    assert of(name)
    assert {decode_metadata_record(bytes.fromhex(line["bytes"])) for line in of(name)} == {None}


def test_every_type_of_kafka_is_known() -> None:
    known = {record.__name__ for record in RECORDS.values()} | set(WITHOUT_EFFECT.values())
    assert {line["record"] for line in LINES} == known


@pytest.mark.parametrize("record", RECORDS.values(), ids=lambda record: record.__name__)
def test_a_record_that_is_cut_off_anywhere_is_refused(record: Any) -> None:
    for line in of(record.__name__):
        whole = bytes.fromhex(line["bytes"])
        for length in range(len(whole)):
            with pytest.raises(MalformedRequest):
                decode_metadata_record(whole[:length])


@pytest.mark.parametrize(
    "raw",
    [b"\x02\x02\x00", b"\x01\x63\x00", b"\x01\x02\x01", b"\x01\x06\x00", b"\x01\x18\x00\x00\x07"],
)
def test_another_frame_type_version_or_length_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedRequest):
        decode_metadata_record(raw)
