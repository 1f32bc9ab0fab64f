"""Requests of real clients to a real Kafka, and its responses (README.md: captured.jsonl)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.golden.frames import (
    NAMES,
    error_codes,
    lines,
    message_of,
    request_body,
    response_body,
)

#: Requests that do not end where their last field does: (API, client) -> (bytes left over, why).
#: Kafka ignores them, too.
LONGER = {
    ("metadata", "confluent-kafka"): (
        bytes.fromhex("010000"),
        "asking for all topics, librdkafka 2.16 writes the null list as four zero bytes, not one",
    ),
    ("alter_user_scram_credentials", "confluent-kafka"): (
        b"\0",
        "librdkafka 2.16 writes one empty list of tagged fields too many",
    ),
}

each_api = pytest.mark.parametrize("name", NAMES)


def captured(name: str, direction: str) -> Iterator[tuple[str, int, bytes]]:
    for line in lines(name, "captured"):
        if line[direction] is not None:
            label = f"{line['client']} v{line['version']} {line['errors']}"
            yield label, line["version"], bytes.fromhex(line[direction])


@each_api
def test_requests_of_clients_are_decoded_and_encoded_to_the_same_bytes(name: str) -> None:
    message = message_of(name, "request")
    for label, version, frame in captured(name, "request"):
        key, named, start = request_body(frame)
        assert (key, named) == (message.api_key, version), label
        found, end = message.decode(version, frame, start)
        if end != len(frame):
            left_over, _ = LONGER[name, label.split()[0].rpartition("-")[0]]
            assert frame[end:] == left_over, label
        assert b"".join(found.encode(version)) == frame[start:end], label


@each_api
def test_responses_of_kafka_are_decoded_and_encoded_to_the_same_bytes(name: str) -> None:
    message = message_of(name, "response")
    for label, version, frame in captured(name, "response"):
        start = response_body(message, version, frame)
        found, end = message.decode(version, frame, start)
        assert end == len(frame), label
        assert b"".join(found.encode(version)) == frame[start:], label


@each_api
def test_the_error_codes_of_a_capture_are_those_of_its_response(name: str) -> None:
    message = message_of(name, "response")
    noted: list[tuple[Any, ...]] = [
        tuple(line["errors"]) for line in lines(name, "captured") if line["response"]
    ]
    found = [
        tuple(
            error_codes(message.decode(version, frame, response_body(message, version, frame))[0])
        )
        for _, version, frame in captured(name, "response")
    ]
    assert found == noted


def test_a_response_has_the_correlation_id_of_its_request() -> None:
    for name in NAMES:
        for line in lines(name, "captured"):
            if line["response"]:
                assert line["request"][8:16] == line["response"][:8]


def test_the_captures_of_each_client_have_the_main_apis() -> None:
    families: dict[str, set[str]] = {}
    for name in NAMES:
        for line in lines(name, "captured"):
            families.setdefault(line["client"].rpartition("-")[0], set()).add(name)
    everywhere = {"api_versions", "fetch", "list_offsets", "metadata", "produce"}
    administration = {"create_partitions", "create_topics", "delete_topics", "init_producer_id"}
    described = {"describe_cluster", "describe_topic_partitions"}
    assert families["kcat"] >= everywhere
    for client in ("aiokafka", "confluent-kafka", "kafkajs"):
        assert families[client] >= everywhere | administration
    assert families["java"] >= everywhere | administration | described
