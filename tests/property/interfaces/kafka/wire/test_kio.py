"""Every message in every version, byte for byte as in an independent codec.

We declare Kafka 4.2. kio 0.6.5 knows all of that, so no version is left out, and a little more.
"""

from __future__ import annotations

import random

import pytest

from interfaces.kafka.wire.schema import Message
from tests.property.interfaces.kafka.wire.every_message import MESSAGES, VERSIONS, name_of
from tests.property.interfaces.kafka.wire.kio_codec import (
    assert_same,
    assert_same_declaration,
    kio_bytes,
    kio_class,
    kio_versions,
    random_entity,
)

INSTANCES = 15
NEWER_THAN_KAFKA_4_2 = {"describe_log_dirs": [5]}


@pytest.mark.parametrize("message", MESSAGES, ids=name_of)
def test_the_versions_are_those_of_kio(message: type[Message]) -> None:
    known = list(range(message.min_version, message.max_version + 1))
    api = message.__module__.rpartition(".")[2]
    assert known + NEWER_THAN_KAFKA_4_2.get(api, []) == kio_versions(message)
    flexible = [version for version in known if message.is_flexible(version)]
    assert flexible == [v for v in known if kio_class(message, v).__flexible__]
    assert all(kio_class(message, v).__api_key__ == message.api_key for v in known)


@pytest.mark.parametrize("message, version", VERSIONS, ids=name_of)
def test_bytes_and_values_are_those_of_kio(message: type[Message], version: int) -> None:
    rng = random.Random(f"{message.__name__} {version}")
    theirs = kio_class(message, version)
    for _ in range(INSTANCES):
        entity = random_entity(theirs, rng)
        encoded = kio_bytes(entity)

        decoded, end = message.decode(version, b"head" + encoded + b"tail", 4)

        assert end == 4 + len(encoded)
        assert_same(decoded, entity, version)
        assert b"".join(decoded.encode(version)) == encoded


@pytest.mark.parametrize("message, version", VERSIONS, ids=name_of)
def test_nullable_fields_and_defaults_are_those_of_kio(
    message: type[Message], version: int
) -> None:
    assert_same_declaration(message, kio_class(message, version), version)
