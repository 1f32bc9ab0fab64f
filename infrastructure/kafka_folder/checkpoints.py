"""Kafka's small text files: properties, checkpoints of offsets and leader epochs, topic ids.

A checkpoint has its version, the number of its lines, and the lines; `partition.metadata` and
`meta.properties` have a key and a value in each line.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Iterable
from pathlib import Path

from domain.topics.topic import text_of_id
from infrastructure.kafka_folder.refused import FolderRefused, readable

#: A topic, a partition number.
Place = tuple[str, int]

_VERSION = "0"
_ID_CHARACTERS = 22
_LONG_MAX = (1 << 63) - 1


def properties(path: Path) -> dict[str, str]:
    return _pairs(path, _whole_lines(path), "=")


def _pairs(path: Path, lines: list[str], separator: str) -> dict[str, str]:
    found = {}
    for line in lines:
        if line and not line.startswith("#"):
            key, there, value = line.partition(separator)
            if not there:
                raise FolderRefused(f"{path} has a line without '{separator}': {line[:80]!r}")
            found[key.strip()] = value.strip()
    return found


def partition_metadata(topic_id: bytes) -> bytes:
    """The content of a file `partition.metadata`."""
    return f"version: {_VERSION}\ntopic_id: {text_of_id(topic_id)}".encode()


def topic_id(path: Path) -> bytes:
    """Of a file `partition.metadata`."""
    found = _pairs(path, _lines(path), ":")
    if found.get("version") != _VERSION:
        raise FolderRefused(f"{path} has version {found.get('version')}, not {_VERSION}")
    text = found.get("topic_id", "")
    try:
        decoded = urlsafe_b64decode(text + "==") if len(text) == _ID_CHARACTERS else b""
    except ValueError:
        decoded = b""
    if not decoded:
        raise FolderRefused(f"{path} has no topic id: {text[:80]!r}")
    return decoded


def checkpoint(rows: Iterable[str]) -> bytes:
    """The content of a checkpoint."""
    lines = list(rows)
    return "".join(f"{line}\n" for line in (_VERSION, str(len(lines)), *lines)).encode()


def offsets(path: Path) -> dict[Place, int]:
    """Of a checkpoint in the log folder, which may be empty."""
    found = {}
    for line in _checkpoint(path):
        words = line.split(" ")
        if len(words) != 3 or not _are_numbers(words[1:]):
            raise FolderRefused(f"{path} has a line that is no topic, partition and offset")
        found[words[0], int(words[1])] = int(words[2])
    return found


def leader_epochs(path: Path) -> list[tuple[int, int]]:
    """Of a partition: epochs and their first offsets, both ascending."""
    found: list[tuple[int, int]] = []
    for line in _checkpoint(path):
        words = line.split(" ")
        if len(words) != 2 or not _are_numbers(words):
            raise FolderRefused(f"{path} has a line that is no leader epoch and offset")
        epoch, offset = int(words[0]), int(words[1])
        if found and (epoch <= found[-1][0] or offset < found[-1][1]):
            raise FolderRefused(f"{path} has leader epochs that do not ascend")
        found.append((epoch, offset))
    return found


def _checkpoint(path: Path) -> list[str]:
    with readable(path):
        if not path.exists() or not path.stat().st_size:  # Kafka has written nothing to it yet
            return []
    version, *rest = _whole_lines(path)
    if version != _VERSION:
        raise FolderRefused(f"{path} has version {version[:80]!r}, not {_VERSION}")
    if not rest or not rest[0].isascii() or not rest[0].isdigit():
        raise FolderRefused(f"{path} does not say how many lines follow")
    count, lines = int(rest[0]), rest[1:]
    if len(lines) != count:
        raise FolderRefused(f"{path} is cut off or changed: {len(lines)} lines, not {count}")
    return lines


def _whole_lines(path: Path) -> list[str]:
    """Of a file in which each line has an end: else its last number may be cut off."""
    *lines, rest = _lines(path) or [""]
    if rest or not lines:
        raise FolderRefused(f"{path} is cut off: its last line has no end")
    return lines


def _lines(path: Path) -> list[str]:
    with readable(path):
        raw = path.read_bytes()
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise FolderRefused(f"{path} is not a text file") from None
    return [line.rstrip("\r") for line in text.split("\n")] if text else []


def _are_numbers(words: list[str]) -> bool:
    return all(
        word.isascii() and word.isdigit() and len(word) < 20 and int(word) <= _LONG_MAX
        for word in words
    )
