"""The comparison of copies finds each kind of broken history."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from crc32c import crc32c

from domain.messages.control import EndMarker, end_marker
from tests.crash.copies import Copy, History, TargetPartition
from tests.fakes.batches import record_batch

NOW_MS = 1_700_000_000_000
#: Producer ids.
A, B = 1, 2


def data(producer_id: int, source_offset: int, transaction: str) -> tuple[int, bytes]:
    return producer_id, f"0 {source_offset} {transaction}".encode()


def log_of(*entries: tuple[int, bytes | bool]) -> list[bytes]:
    """A batch of each; True and False are markers."""
    batches = []
    for offset, (producer_id, what) in enumerate(entries):
        if isinstance(what, bool):
            marker = EndMarker(producer_id, 0, 0, what)
            raw = bytearray(end_marker(marker, NOW_MS, crc32c).buffer)
        else:
            batch = record_batch(
                [(b"", what, (), NOW_MS)], producer_id=producer_id, transactional=True
            )
            raw = bytearray(batch)
        raw[0:8] = offset.to_bytes(8, "big")
        batches.append(bytes(raw))
    return batches


#: Transaction t1 copies record 0, t2 is aborted, t3 copies record 1.
ENTRIES = (
    data(A, 0, "t1"),
    data(B, 1, "t2"),
    (A, True),
    (B, False),
    data(A, 1, "t3"),
    (A, True),
)
READ = (Copy(0, 0, 0, "t1"), Copy(4, 0, 1, "t3"))
CONFIRMED = {"t1": True, "t2": False, "t3": True}


def problems(
    entries: Sequence[tuple[int, bytes | bool]] = ENTRIES,
    read: Sequence[Copy] = READ,
    stable: int | None = None,
    without: int | None = None,
) -> set[str]:
    log = log_of(*entries)
    end = len(log)
    if without is not None:
        del log[without]
    target = TargetPartition(log, end, end if stable is None else stable, read)
    found = History(CONFIRMED, {0: 2}, [target]).check()
    return {problem.partition(":")[0] for problem in found}


def test_a_history_of_whole_transactions_has_no_problem() -> None:
    assert problems() == set()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("lost write", problems(read=READ[:1])),
        ("lost write", problems((*ENTRIES[:4], data(A, 1, "t3"), (A, False)), READ[:1])),
        ("aborted read", problems(read=(READ[0], Copy(1, 0, 1, "t2"), READ[1]))),
        ("aborted read", problems((*ENTRIES[:3], (B, True), *ENTRIES[4:]))),
        ("duplicate", problems((*ENTRIES, data(A, 1, "t3"), (A, True)))),
        ("non-monotonic read", problems(read=READ[::-1])),
        ("non-monotonic read", problems((data(A, 1, "t3"), data(A, 0, "t1"), (A, True)))),
        ("unexplained offset gap", problems(without=3)),
        ("LSO below the end", problems(stable=4)),
        ("hanging transaction", problems((*ENTRIES, data(B, 1, "t2")))),
    ],
)
def test_a_broken_history_is_named(name: str, found: set[str]) -> None:
    assert name in found
