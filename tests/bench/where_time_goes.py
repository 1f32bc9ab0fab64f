"""Sorts sampled stacks into groups: sockets, LMDB, codec, handlers, ..."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

Stack = tuple[str, ...]

#: The first that matches a frame, looking from the leaf down, says where the sample goes; the
#: groups are tried in this order for the whole stack.
_NATIVE = [
    ("LMDB commit", re.compile(r"\b_?mdb\d*_txn_commit|^trans_commit|mdb_page_flush|fdatasync")),
    ("LMDB put", re.compile(r"\b_?mdb\d*_(cursor_)?put|^trans_put|^cursor_put")),
    ("LMDB read", re.compile(r"^_?mdb\d*_|^cursor_|^trans_|\(cpython\.c")),
    (
        "socket write",
        re.compile(r"^uv__(try_)?write|^UVStream_(write|_)|^(write|writev|send\w*) \("),
    ),
    ("socket read", re.compile(r"^(read|recv\w*) \(")),
    ("epoll", re.compile(r"^epoll_|^_?_?epoll")),
    ("CRC-32C", re.compile(r"crc32c", re.IGNORECASE)),
]
_OURS = [
    ("wire (codec, framing)", re.compile(r"\(interfaces/kafka/wire/|<\w+ v\d+ (de|en)coder>")),
    ("handlers", re.compile(r"\(interfaces/kafka/handlers/")),
    ("session, dispatch", re.compile(r"\(interfaces/kafka/")),
    ("application", re.compile(r"\(application/")),
    ("domain", re.compile(r"\(domain/")),
    ("infrastructure", re.compile(r"\(infrastructure/")),
]
_REST = "event loop (uvloop), interpreter"


def parse(raw: str) -> dict[Stack, int]:
    """py-spy's raw format: frames from the root with semicolons, a space, the samples."""
    stacks: Counter[Stack] = Counter()
    for line in raw.splitlines():
        frames, _, count = line.rpartition(" ")
        if count.isdigit():
            stacks[tuple(frames.split(";"))] += int(count)
    return stacks


def groups(stacks: Mapping[Stack, int]) -> list[tuple[str, float]]:
    """Shares of all samples, the largest first."""
    counted: Counter[str] = Counter()
    for stack, samples in stacks.items():
        counted[_group(stack)] += samples
    total = sum(counted.values())
    return [(name, samples / total) for name, samples in counted.most_common()]


def _group(stack: Stack) -> str:
    ours_at, ours = _leafmost_of_ours(stack)
    # Native code above our newest Python frame is what that frame called.
    called = stack[ours_at + 1 :]
    for name, pattern in _NATIVE:
        if any(pattern.search(frame) for frame in called):
            return name
    # What the loop itself runs above the last Python frame is its own, not the caller's.
    if ours is None or (called and any("(loop.c" in frame for frame in called)):
        return _REST
    return ours


def _leafmost_of_ours(stack: Stack) -> tuple[int, str | None]:
    for at in range(len(stack) - 1, -1, -1):
        for name, pattern in _OURS:
            if pattern.search(stack[at]):
                return at, name
    return -1, None
