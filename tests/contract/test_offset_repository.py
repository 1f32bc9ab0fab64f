"""OffsetRepository over every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from application.ports.offset_repository import OffsetRow, OffsetWrite
from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from tests.contract.offset_engines import OFFSET_ENGINES, REFUSED, OffsetEngine, SqlOffsets
from tests.fakes.groups import A_TOPIC_ID, committed

_LASTING = {name: engine for name, engine in OFFSET_ENGINES.items() if engine.lasting}
_BREAKING = {
    name: engine
    for name, engine in OFFSET_ENGINES.items()
    if engine.break_next is not OffsetEngine.break_next
}

ODD = [
    "", " ", "\0", "a\0b", "a/b", "\n", "ü", "漢字", "😀", "'; drop table offsets; --", "%s", ":x",
    "g" * 300, "g" * 32_767, "ü" * 16_000,
]  # fmt: skip


@pytest.fixture(params=OFFSET_ENGINES.values(), ids=OFFSET_ENGINES.keys())
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OffsetEngine]:
    yield from _opened(request.param, tmp_path)


@pytest.fixture(params=_LASTING.values(), ids=_LASTING.keys())
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OffsetEngine]:
    yield from _opened(request.param, tmp_path)


@pytest.fixture(params=_BREAKING.values(), ids=_BREAKING.keys())
def breaking(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OffsetEngine]:
    yield from _opened(request.param, tmp_path)


def _opened(made: type[OffsetEngine], folder: Path) -> Iterator[OffsetEngine]:
    opened = made(folder)
    yield opened
    opened.close()


def row(offset: int, group_id: str = "g", topic: str = "t", partition: int = 0) -> OffsetRow:
    return (group_id, topic, partition, committed(offset))


def deletion(group_id: str = "g", topic: str = "t", partition: int = 0) -> OffsetWrite:
    return (group_id, topic, partition, None)


def test_an_empty_repository_has_no_offsets(engine: OffsetEngine) -> None:
    assert engine.rows() == []


def test_each_write_is_called_back_once_and_in_order(engine: OffsetEngine) -> None:
    engine.load()
    assert engine.outcomes(*([row(n)] for n in range(250))) == [None] * 250
    assert engine.outcomes([], [row(1), deletion()], []) == [None] * 3


def test_all_fields_of_an_offset_are_loaded(lasting: OffsetEngine) -> None:
    lasting.load()
    expected: list[OffsetRow] = [
        ("g", "t", 0, CommittedOffset(5, 3, "a note", 17, 99, A_TOPIC_ID)),
        ("g", "t", 2**31 - 1, CommittedOffset(2**63 - 1, 2**31 - 1, "", 2**62, None, bytes(16))),
        ("h", "t", 0, CommittedOffset(-(2**63), -(2**31), "\0 ü 😀", 0, 2**63 - 1, b"\xff" * 16)),
        ("h", "u", 0, CommittedOffset(-1, -1, "", 0, 0, A_TOPIC_ID)),
    ]
    lasting.keep(*expected)
    lasting.reopen()
    assert lasting.rows() == sorted(expected, key=lambda one: one[:3])


def test_offsets_of_some_groups_are_loaded_from_a_store_that_brokers_share(
    engine: OffsetEngine,
) -> None:
    engine.load()
    written = [row(n, group_id, partition=n) for group_id in ("a", "b", "bb", "c") for n in (0, 1)]
    engine.outcomes(written)
    found = list(engine.repository.load_groups(lambda one: one not in ("a", "bb")))
    shared = isinstance(engine.repository, StoredOffsetRepository)
    assert found == ([one for one in written if one[0] in ("b", "c")] if shared else [])


def test_the_newest_offset_of_a_partition_is_loaded(lasting: OffsetEngine) -> None:
    lasting.load()
    lasting.keep(row(5), row(4), row(9, partition=1))
    lasting.keep(row(3))
    assert lasting.outcomes([row(8)], [row(2)]) == [None, None]
    lasting.reopen()
    assert lasting.rows() == [row(2), row(9, partition=1)]


def test_a_deleted_offset_is_not_loaded(lasting: OffsetEngine) -> None:
    lasting.load()
    lasting.keep(row(5), row(6, partition=1), row(7, "h"))
    lasting.keep(deletion(), deletion("never"), deletion("g", "never"), deletion(partition=9))
    lasting.reopen()
    assert lasting.rows() == [row(6, partition=1), row(7, "h")]


def test_the_last_of_several_writes_counts(lasting: OffsetEngine) -> None:
    lasting.load()
    lasting.keep(row(5), row(6, "h"))
    lasting.keep(deletion(), row(7), row(8, "h"), deletion("h"))
    assert lasting.outcomes([row(1, "i")], [deletion("i")], [row(2, "i")]) == [None] * 3
    lasting.reopen()
    assert lasting.rows() == [row(7), row(2, "i")]


@pytest.mark.parametrize("count", [99, 100, 101, 1234])
def test_many_offsets_are_written_at_once(lasting: OffsetEngine, count: int) -> None:
    lasting.load()
    rows = [row(n, partition=n) for n in range(count)]
    lasting.keep(*rows)
    lasting.keep(*(deletion(partition=n) for n in range(0, count, 2)))
    lasting.reopen()
    assert lasting.rows() == rows[1::2]


def test_many_commits_of_one_pass_are_all_durable(lasting: OffsetEngine) -> None:
    lasting.load()
    groups = [[row(n, f"g{n:04}", partition=p) for p in range(6)] for n in range(300)]
    assert lasting.outcomes(*groups) == [None] * 300
    lasting.reopen()
    assert lasting.rows() == [one for group in groups for one in group]


def test_long_and_unusual_names_stay_distinct(lasting: OffsetEngine) -> None:
    lasting.load()
    rows = [row(n, name, other) for n, name in enumerate(ODD) for other in ("t", name[:249])]
    rows.append(row(1, "g" * 32_766 + "h"))
    expected = {one[:3]: one for one in rows}
    lasting.keep(*rows)
    lasting.reopen()
    assert lasting.rows() == sorted(expected.values(), key=lambda one: one[:3])
    lasting.keep(*(deletion(*place) for place in expected))
    lasting.reopen()
    assert lasting.rows() == []


def test_offsets_of_a_transaction_are_written_in_order_with_plain_commits(
    lasting: OffsetEngine,
) -> None:
    lasting.load()
    outcomes: list[object] = []
    lasting.repository.apply([row(1), row(1, partition=1)], outcomes.append)
    lasting.repository.apply_with_log([row(2), row(2, partition=2)], outcomes.append)
    lasting.repository.apply([row(3, partition=2)], outcomes.append)
    lasting.settle(lambda: len(outcomes) == 3)
    assert outcomes == [None] * 3
    lasting.reopen()
    assert lasting.rows() == [row(2), row(1, partition=1), row(3, partition=2)]


def test_group_and_topic_names_are_separated(lasting: OffsetEngine) -> None:
    lasting.load()
    rows = [row(1, "a", "bc"), row(2, "ab", "c"), row(3, "abc", ""), row(4, "", "abc")]
    lasting.keep(*rows)
    lasting.reopen()
    assert lasting.rows() == sorted(rows, key=lambda one: one[:3])


def test_metadata_may_be_huge(lasting: OffsetEngine) -> None:
    lasting.load()
    huge: OffsetRow = ("g", "t", 0, committed(5, "m\0ü" * 100_000))
    lasting.keep(huge)
    lasting.reopen()
    assert lasting.rows() == [huge]


def test_a_failed_write_is_reported_and_leaves_nothing(breaking: OffsetEngine) -> None:
    breaking.load()
    breaking.keep(row(5), row(6, "h"))
    breaking.break_next()
    many = [row(7, partition=n) for n in range(250)]
    (outcome,) = breaking.outcomes([*many, deletion("h"), row(8, partition=REFUSED)])
    assert isinstance(outcome, StorageFailed)
    assert "\n" not in outcome.message
    breaking.mend()
    breaking.keep(row(9, "j"))
    breaking.reopen()
    assert breaking.rows() == [row(5), row(6, "h"), row(9, "j")]


def test_only_a_database_server_may_leave_an_uncertain_commit(engine: OffsetEngine) -> None:
    assert engine.repository.leaves_doubt == isinstance(engine, SqlOffsets)


def test_all_writes_of_a_failed_commit_are_reported(breaking: OffsetEngine) -> None:
    """Each write is persisted or fails, as reported."""
    breaking.load()
    breaking.break_next()
    requests = [[row(n, f"g{n}")] for n in range(20)]
    requests[10].append(row(1, "g10", partition=REFUSED))
    outcomes = breaking.outcomes(*requests)
    assert isinstance(outcomes[10], StorageFailed)
    breaking.mend()
    breaking.reopen()
    acknowledged = [
        writes[0] for writes, failure in zip(requests, outcomes, strict=True) if failure is None
    ]
    assert breaking.rows() == sorted(acknowledged, key=lambda one: one[:3])
