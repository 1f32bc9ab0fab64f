"""The protocol of a process with consumers: commands in, JSON out, a line each.

In: `id=7`, `member=a`, `do=join` and arguments, separated by tabs. Out: the result,
`{"id": 7, "result": ...}` or `{"id": 7, "error": "..."}`, and events of members,
`{"member": "a", "records": [[topic, partition, offset, value], ...]}` and
`{"member": "a", "assigned": [[topic, partition], ...], "generation": 3}` with all its partitions.
Clients in other languages use the same protocol.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

_writing = threading.Lock()


def fields(line: str) -> dict[str, str]:
    return dict(field.split("=", 1) for field in line.rstrip("\n").split("\t"))


def emit(**facts: Any) -> None:
    line = json.dumps(facts)
    with _writing:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def places(text: str) -> list[tuple[str, int, int]]:
    """`topic:partition:offset`, separated by commas; without an offset it is -1."""
    found = []
    for place in text.split(","):
        topic, partition, *offset = place.split(":")
        found.append((topic, int(partition), int(offset[0]) if offset else -1))
    return found
