"""Runs of records are read a column at a time: with the same result as record by record."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from domain.compaction.records import find_keyless, read_records
from domain.errors import InvalidRecord
from domain.messages import runs
from domain.messages.runs import SHORTEST_RUN, Run, find_run
from tests.fakes.batches import records_section

TIMESTAMP = 1_700_000_000_000
BASE = 1000
Alike = tuple[int, int | None, int | None, int]
#: How many, with keys and values of which size, and the time between two.
ALIKE = st.tuples(
    st.integers(1, 150),
    st.sampled_from([None, 0, 1, 8, 30, 31, 64, 70]),
    st.sampled_from([None, 0, 8, 63, 64, 200]),
    st.sampled_from([0, 1, 100]),
)
#: Positions in the payload, and what is added to the bytes there.
CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), max_size=3)


def payload_of(alike: list[Alike], gap: int = 0) -> tuple[bytes, int]:
    """`gap`: the first offset delta, as compaction leaves it."""
    rows: list[Any] = []
    time = TIMESTAMP
    for count, key_bytes, value_bytes, step in alike:
        for index in range(count):
            time += step
            key = None if key_bytes is None else bytes([index % 251]) * key_bytes
            rows.append((key, None if value_bytes is None else bytes(value_bytes), (), time))
    return records_section(rows, TIMESTAMP, gap), len(rows)


def outcome(payload: bytes, last_offset_delta: int, count: int) -> tuple[object, object]:
    try:
        found = read_records(payload, BASE, last_offset_delta, count)
        read: object = (found.keys, list(found.offsets), found.tombstones)
    except InvalidRecord:
        read = None
    try:
        keyless: object = find_keyless(payload, last_offset_delta, count)
    except InvalidRecord:
        keyless = None
    return read, keyless


def one_by_one(*_: object) -> Run | None:
    return None


@given(
    st.lists(ALIKE, min_size=1, max_size=4),
    CHANGES,
    st.sampled_from([0, 0, 1, -1, 5]),
    st.sampled_from([0, 0, 1, 63, 64, 8192]),
)
@example([(100, 8, 8, 0)], [(0.5, 1), (0.5, 128)], 0, 0)
@example([(150, 8, 8, 0)] * 60, [], 0, 0)
@example([(20, 8, 8, 0), (1, 8, None, 0), (20, 8, 8, 0)], [], 0, 0)
@example([(30, 8, 8, 0), (2, 8, 63, 0)], [], 0, 5)
def test_the_result_is_that_of_one_record_after_the_other(
    alike: list[Alike], changes: list[tuple[float, int]], more: int, gap: int
) -> None:
    plain, count = payload_of(alike, gap)
    changed = bytearray(plain)
    for share, by in changes:
        at = int(share * (len(plain) - 1))
        changed[at] = (changed[at] + by) & 0xFF
    payload, last_delta = bytes(changed), gap + count - 1 + more
    in_runs = outcome(payload, last_delta, count)
    with patch.object(runs, "find_run", one_by_one):
        assert in_runs == outcome(payload, last_delta, count)


@given(st.integers(0, 600), st.integers(0, 255), st.integers(1, 400))
def test_each_changed_byte_of_a_run_is_noticed(at: int, byte: int, count: int) -> None:
    """Near the head of a record, where all columns are."""
    plain, count = payload_of([(SHORTEST_RUN + count, 4, 4, 1)])
    changed = bytearray(plain)
    changed[at % len(plain)] = byte
    in_runs = outcome(bytes(changed), count - 1, count)
    with patch.object(runs, "find_run", one_by_one):
        assert in_runs == outcome(bytes(changed), count - 1, count)


def test_records_alike_are_a_run_up_to_the_next_group_of_their_offsets() -> None:
    payload, _ = payload_of([(10_000, 8, 8, 0)])
    start = delta = 0
    counts = []
    while start < len(payload):
        run = find_run(payload, start, 10_000, delta)
        assert run is not None
        counts.append(run.records)
        start, delta = run.end, delta + run.records
    assert counts == [64, 8192 - 64, 10_000 - 8192]


def test_the_offsets_after_a_gap_at_the_start_are_those_of_the_records() -> None:
    """A value of odd length, in the column of the values' lengths, follows records alike."""
    payload, count = payload_of([(30, 8, 8, 0), (30, 8, 9, 0)], 5)
    found = read_records(payload, BASE, 5 + count - 1, count)
    assert list(found.offsets) == list(range(BASE + 5, BASE + 5 + count))


def test_records_of_other_lengths_are_no_run() -> None:
    payload, _ = payload_of([(1, 8, value_bytes, 0) for value_bytes in range(50)])
    assert find_run(payload, 0, 50, 0) is None
