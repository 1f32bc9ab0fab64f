from __future__ import annotations

import pytest

from tests.e2e.admin.cli.conftest import Ottla


@pytest.fixture
def filled(ottla: Ottla, name: str) -> str:
    """Ten records in the first of two partitions, one in the second."""
    ottla.run("topic", "create", name, "-p", "2")
    ottla.run("produce", "-t", name, "-p", "0", stdin=b"".join(b"%d\n" % n for n in range(10)))
    ottla.run("produce", "-t", name, "-p", "1", stdin=b"other\n")
    return name


def test_the_oldest_records_are_deleted(ottla: Ottla, filled: str) -> None:
    dry = ottla.run("topic", "trim", filled, "-o", "-3", "-p", "0", "--dry-run")
    assert dry.lines == ["partition 0: would begin at 7 (begins at 0)"]
    assert ottla.run("offsets", filled).rows == [[filled, "0", "0", "10"], [filled, "1", "0", "1"]]

    trimmed = ottla.run("topic", "trim", filled, "-o", "-3", "-p", "0")
    assert trimmed.lines == ["partition 0: begins at 7 now, and not at 0"]
    assert ottla.run("offsets", filled).rows == [[filled, "0", "7", "10"], [filled, "1", "0", "1"]]
    assert ottla.run("consume", filled, "-p", "0", "-e").lines == ["7", "8", "9"]

    ottla.run("topic", "trim", filled, "-o", "end")
    assert ottla.run("consume", filled, "-e").lines == []
    again = ottla.run("topic", "trim", filled, "-o", "1")
    assert again.lines == [f"partition {n}: is as it was" for n in (0, 1)]
    dry = ottla.run("topic", "trim", filled, "-o", "1", "-p", "0", "--dry-run")
    assert dry.lines == ["partition 0: would stay as it is (begins at 10)"]


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_an_offset_beyond_the_end_deletes_nothing(
    ottla: Ottla, filled: str, more: tuple[str, ...]
) -> None:
    before = ottla.run("offsets", filled).rows
    said = ottla.run("topic", "trim", filled, "-o", "2", *more, code=1)
    assert said.errors == (
        f"ottla: partition 1 of {filled} ends at 1, before 2: nothing is deleted "
        "(-o end deletes all)\n"
    )
    assert ottla.run("offsets", filled).rows == before


def test_more_than_there_are_deletes_nothing(ottla: Ottla, filled: str) -> None:
    before = ottla.run("offsets", filled).rows
    said = ottla.run("topic", "trim", filled, "-o", "+2", code=1)
    assert said.errors == (
        f"ottla: partition 1 of {filled} has 1 offsets, fewer than 2: nothing is deleted "
        "(-o end deletes all)\n"
    )
    assert ottla.run("offsets", filled).rows == before
    ottla.run("topic", "trim", filled, "-o", "+4", "-p", "0")
    ottla.run("topic", "trim", filled, "-o", "+1")
    assert ottla.run("offsets", filled).rows == [[filled, "0", "5", "10"], [filled, "1", "1", "1"]]


def test_a_partition_that_there_is_not_is_named(ottla: Ottla, filled: str) -> None:
    said = ottla.run("topic", "trim", filled, "-o", "end", "-p", "1,7", code=1)
    assert said.errors == f"ottla: {filled} has no partition 7\n"
