"""Decodes the headers of golden frames.

A frame is in the files as hex, without its length.
"""

from __future__ import annotations

import importlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interfaces.kafka.wire.headers import (
    API_VERSIONS,
    CLIENT_ID_START,
    response_start,
    skip_header_tags,
    unpack_fixed_header,
)
from interfaces.kafka.wire.schema import Message
from interfaces.kafka.wire.structs import Struct

FOLDER = Path(__file__).parent
MESSAGES = Path(importlib.import_module("interfaces.kafka.wire.messages").__path__[0])
#: Every API whose messages are declared, by the name of their module.
NAMES = sorted(path.stem for path in MESSAGES.glob("*.py") if not path.stem.startswith("_"))

_LENGTH = struct.Struct(">i")


def lines(name: str, file: str) -> list[dict[str, Any]]:
    path = FOLDER / name / f"{file}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def message_of(name: str, direction: str) -> type[Message]:
    module = importlib.import_module(f"interfaces.kafka.wire.messages.{name}")
    title = "".join(word.capitalize() for word in f"{name}_{direction}".split("_"))
    found: type[Message] = getattr(module, title)
    return found


def request_header(frame: bytes) -> tuple[int, int, int, bytes]:
    """Key, version, correlation id and client id."""
    key, version, correlation_id, length = unpack_fixed_header(frame)
    return key, version, correlation_id, frame[CLIENT_ID_START : CLIENT_ID_START + max(length, 0)]


def request_body(frame: bytes) -> tuple[int, int, int]:
    """The key, the version, and the position of the body."""
    key, version, _, client_id = request_header(frame)
    position = CLIENT_ID_START + len(client_id)
    if message_by_key(key).is_flexible(version):
        position = skip_header_tags(memoryview(frame), position)
    return key, version, position


def message_by_key(key: int) -> type[Message]:
    return _requests()[key]


def response_body(message: type[Message], version: int, frame: bytes) -> int:
    """The position of the body, after a check that we write the same header."""
    tagged = message.is_flexible(version) and message.api_key != API_VERSIONS
    start = 5 if tagged else 4
    (correlation_id,) = _LENGTH.unpack_from(frame)
    header = response_start(correlation_id, len(frame) - start, tagged)
    assert header == _LENGTH.pack(len(frame)) + frame[:start]
    return start


def error_codes(response: Struct) -> list[int]:
    """All error codes, at any depth, each once."""
    return sorted(set(_error_codes(response)))


def _error_codes(value: object) -> Iterator[int]:
    if isinstance(value, list):
        for one in value:
            yield from _error_codes(one)
    elif isinstance(value, Struct):
        for field in type(value).fields_:
            inner = getattr(value, field)
            if field.endswith("error_code") and inner:
                yield inner
            yield from _error_codes(inner)


def _requests() -> dict[int, type[Message]]:
    if not _BY_KEY:
        for name in NAMES:
            request = message_of(name, "request")
            _BY_KEY[request.api_key] = request
    return _BY_KEY


_BY_KEY: dict[int, type[Message]] = {}
