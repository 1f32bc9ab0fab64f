"""Every message and version as Kafka's own classes write it (README.md: built.jsonl)."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from typing import Any

import pytest

from interfaces.kafka.wire.structs import Struct
from tests.golden.frames import NAMES, lines, message_of, request_body, response_body

each_api = pytest.mark.parametrize("name", NAMES)


def snake(kafka_name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kafka_name).lower()


def same(ours: Any, kafkas: Any) -> bool:
    """Compares a decoded value with Kafka's JSON, in which bytes and uuids are base64."""
    if isinstance(kafkas, dict):
        if "recordsSizeInBytes" in kafkas:
            kafkas = dict(kafkas)
            if len(ours.records) != kafkas.pop("recordsSizeInBytes"):
                return False
        return all(same(getattr(ours, snake(key)), kafkas[key]) for key in kafkas)
    if isinstance(kafkas, list):
        return len(ours) == len(kafkas) and all(map(same, ours, kafkas))
    if isinstance(ours, (bytes, bytearray, memoryview)):
        if len(ours) == 16 and len(kafkas) == 22:
            return bytes(ours) == urlsafe_b64decode(kafkas + "==")
        return bytes(ours) == b64decode(kafkas)
    return type(ours) is type(kafkas) and bool(ours == kafkas)


def decoded(name: str, line: dict[str, Any]) -> tuple[Struct, bytes, bytes]:
    """The message, the bytes of its body, and the same encoded by us."""
    message = message_of(name, line["message"])
    version = line["version"]
    frame = bytes.fromhex(line["frame"])
    if line["message"] == "request":
        key, named, start = request_body(frame)
        assert (key, named) == (message.api_key, version)
    else:
        start = response_body(message, version, frame)
    found, end = message.decode(version, frame, start)
    assert end == len(frame)
    return found, frame[start:], b"".join(found.encode(version))


@each_api
def test_messages_of_kafka_are_decoded_and_encoded_to_the_same_bytes(name: str) -> None:
    for line in lines(name, "built"):
        _, body, again = decoded(name, line)
        assert again == body, (line["message"], line["version"], line["example"])


@each_api
def test_every_field_has_its_value_in_the_json_of_kafka(name: str) -> None:
    for line in lines(name, "built"):
        found, _, _ = decoded(name, line)
        assert same(found, line["fields"]), (line["message"], line["version"], found)


@each_api
def test_only_declared_versions_were_built(name: str) -> None:
    built = [(line["message"], line["version"], line["example"]) for line in lines(name, "built")]
    assert sorted(built) == sorted(
        (direction, version, example)
        for direction in ("request", "response")
        for message in [message_of(name, direction)]
        for version in range(message.min_version, message.max_version + 1)
        for example in ("filled", "least")
    )
