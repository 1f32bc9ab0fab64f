"""Records of __consumer_offsets are those of Kafka, from the values that its formatters print."""

from __future__ import annotations

import json
from base64 import b64decode, urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

from domain.errors import InvalidRecord
from domain.groups.classic.changes import Image
from domain.groups.classic.member import MemberImage
from domain.groups.classic.metadata_record import (
    group_record,
    read_group_key,
    read_group_value,
)
from domain.groups.offsets import CommittedOffset
from domain.groups.offsets_topic import (
    offset_records,
    read_offset_key,
    read_offset_value,
)
from domain.topics.internal_records import Record
from domain.topics.topic import NO_TOPIC_ID

FOLDER = Path(__file__).parent / "offsets_topic"
LINES = [json.loads(line) for line in (FOLDER / "captured.jsonl").read_text().splitlines()]
OFFSET = 1
#: Kafka knows no topic id if a request has none, and appends no field then; here each has one.
TOPIC_ID_FIELD = "010010" + NO_TOPIC_ID.hex()


def offset(value: dict[str, Any]) -> CommittedOffset:
    topic_id = urlsafe_b64decode(value["topicId"] + "==") if "topicId" in value else NO_TOPIC_ID
    return CommittedOffset(
        value["offset"],
        value.get("leaderEpoch", -1),
        value["metadata"],
        value["commitTimestamp"],
        value.get("expireTimestamp"),
        topic_id,
    )


def image(value: dict[str, Any]) -> Image:
    members = [
        MemberImage(
            one["memberId"],
            one["groupInstanceId"],
            one["clientId"],
            one["clientHost"],
            one["rebalanceTimeout"],
            one["sessionTimeout"],
            ((value["protocol"], b64decode(one["subscription"])),),
            b64decode(one["assignment"]),
        )
        for one in value["members"]
    ]
    return Image(
        value["generation"],
        value["protocolType"],
        value["protocol"],
        value["leader"],
        value["currentStateTimestamp"],
        tuple(members),
        True,
    )


def encoded(printed: dict[str, Any]) -> Record:
    key = printed["key"]["data"]
    value = None if printed["value"] is None else printed["value"]["data"]
    if printed["key"]["type"] == OFFSET:
        committed = None if value is None else offset(value)
        [record] = offset_records(key["group"], [(key["topic"], key["partition"], committed)])
        return record
    return group_record(key["group"], None if value is None else image(value))


@pytest.mark.parametrize("line", LINES, ids=[f"record {at}" for at in range(len(LINES))])
def test_a_record_has_the_bytes_of_kafka(line: dict[str, Any]) -> None:
    key, value = encoded(line["printed"])
    without_id = None if value is None else value.hex().replace(TOPIC_ID_FIELD, "00")
    assert (key.hex(), without_id) == (line["key"], line["value"])


@pytest.mark.parametrize("line", LINES, ids=[f"record {at}" for at in range(len(LINES))])
def test_a_record_of_kafka_is_read(line: dict[str, Any]) -> None:
    key, value = bytes.fromhex(line["key"]), line["value"] and bytes.fromhex(line["value"])
    printed = line["printed"]["key"]["data"]
    data = None if value is None else line["printed"]["value"]["data"]
    if line["printed"]["key"]["type"] == OFFSET:
        assert read_offset_key(key) == (printed["group"], printed["topic"], printed["partition"])
        assert value is None or read_offset_value(value) == offset(data)
    else:
        assert read_group_key(key) == printed["group"]
        assert value is None or read_group_value(value) == (
            data["generation"],
            data["protocolType"],
            data["currentStateTimestamp"],
            len(data["members"]),
        )


@pytest.mark.parametrize("line", LINES, ids=[f"record {at}" for at in range(len(LINES))])
def test_a_record_that_is_cut_off_is_refused(line: dict[str, Any]) -> None:
    is_offset = line["printed"]["key"]["type"] == OFFSET
    key, value = bytes.fromhex(line["key"]), bytes.fromhex(line["value"] or "")
    for length in range(len(key)):
        with pytest.raises(InvalidRecord):
            (read_offset_key if is_offset else read_group_key)(key[:length])
    # Of a group, members are counted only.
    for length in range(len(value) if is_offset else 2):
        with pytest.raises(InvalidRecord):
            (read_offset_value if is_offset else read_group_value)(value[:length])


def test_every_kind_of_record_is_captured() -> None:
    kinds = {(line["key"][:4], (line["value"] or "")[:4]) for line in LINES}
    offsets, groups = (
        [("0001", one) for one in ("", "0001", "0004")],
        [("0002", ""), ("0002", "0003")],
    )
    assert kinds == {*offsets, *groups}
