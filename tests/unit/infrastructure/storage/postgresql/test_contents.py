"""Which rows a broker has, by its own changes and those of others; no database is asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from struct import pack
from threading import Thread

import pytest

from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC, Topic
from infrastructure.storage.postgresql.contents import NOTHING_GAINED, Contents
from infrastructure.storage.postgresql.runs import Run
from infrastructure.storage.postgresql.shared_rows import Gained, Row, SharedRows
from infrastructure.storage.repositories.leader_rows import LEADERS

ME, OTHER = 1, 2
SLOTS = 3


def key_of(partition_id: int) -> bytes:
    return partition_id.to_bytes(4, "big")


def led(partition_id: int, leader: int, version: int = 1) -> Row:
    return Row(LEADERS, key_of(partition_id), pack(">iiii", leader, 1, 1, leader), version)


def gained(partition_id: int, *rows: Row, end: int = 0) -> Gained:
    return Gained(
        frozenset([partition_id]), list(rows), {partition_id: (Run(0, 1),)}, {partition_id: end}, []
    )


def contents() -> Contents:
    """It leads partition 7."""
    contents = Contents(ME)
    snapshot = Row("partitions", key_of(7), b"snapshot")
    contents.take_over(SharedRows(0, 1, [led(7, ME)]), gained(7, snapshot, end=5))
    return contents


def test_it_has_the_rows_of_what_it_gains_and_forgets_those_of_what_it_loses() -> None:
    known = contents()
    assert known.state.get("partitions", key_of(7)) == b"snapshot"
    assert known.ends == {7: 5}
    changes = known.changes_of(7)
    known.take_over(SharedRows(1, 2, [led(7, OTHER, 2)]), NOTHING_GAINED)
    assert known.state.scan("partitions") == []
    assert known.ends == {}
    assert known.changes_of(7) > changes, "answers of before count no more"


def test_a_partition_that_it_has_already_is_not_read_again() -> None:
    """What was read may be older than its own commits."""
    known = contents()
    older = gained(7, Row("partitions", key_of(7), b"older"), end=3)
    known.take_over(SharedRows(1, 2, [led(7, ME, 2)]), older)
    assert known.state.get("partitions", key_of(7)) == b"snapshot"
    assert known.ends == {7: 5}


def test_what_was_read_before_its_own_change_is_read_again() -> None:
    """It gave the partition away meanwhile, or knew it still when it was read."""
    known = contents()
    again: list[bool] = []
    known.read_again = lambda: again.append(True)
    known.staged.rows[LEADERS, key_of(7)] = led(7, OTHER).value
    staged = known.end_pass()
    older = gained(7, Row("partitions", key_of(7), b"older"), end=3)
    known.take_over(SharedRows(1, 2, [led(7, ME, 2)]), older)
    known.committed(staged, NOTHING_GAINED)
    assert len(again) == 1
    known.take_over(SharedRows(1, 3, [led(7, ME, 3)]), NOTHING_GAINED)
    assert len(again) == 2
    assert (known.version, known.ends) == (2, {})
    newer = gained(7, Row("partitions", key_of(7), b"newer"), end=9)
    known.take_over(SharedRows(2, 3, [led(7, ME, 3)]), newer)
    assert (known.version, known.ends) == (3, {7: 9})
    assert known.state.get("partitions", key_of(7)) == b"newer"


def test_what_was_read_twice_changes_nothing_again() -> None:
    known = contents()
    changes = SharedRows(1, 2, [led(8, ME, 2)])
    known.take_over(changes, gained(8, end=3))
    known.take_over(SharedRows(2, 3, [led(8, OTHER, 3)]), NOTHING_GAINED)
    known.take_over(changes, gained(8, end=3))
    assert (known.version, known.ends) == (3, {7: 5})


def test_staged_changes_keep_the_version_on_which_they_were_decided() -> None:
    """Their commit fails if others have changed something meanwhile."""
    known = contents()
    followed: list[bytes] = []
    known.follow("topics", followed.extend)
    known.staged.rows["topics", b"mine"] = b"row"
    others = SharedRows(1, 2, [Row("topics", b"other", b"row", 2)])
    known.take_over(others, NOTHING_GAINED)
    assert not followed
    assert known.end_pass().version == 1
    known.failed()
    known.take_over(others, NOTHING_GAINED)
    assert followed == [b"other"]


def test_what_is_staged_behind_a_change_has_the_next_version() -> None:
    known = contents()
    known.staged.rows["topics", b"a"] = b"row"
    first = known.end_pass()
    assert (first.version, known.staged.version) == (1, 2)
    known.committed(first, NOTHING_GAINED)
    known.staged.rows["topics", b"b"] = b"row"
    assert known.end_pass().version == 2


def test_a_failed_change_leaves_the_version() -> None:
    known = contents()
    known.staged.rows["topics", b"a"] = b"row"
    known.end_pass()
    known.failed()
    assert (known.version, known.staged.version) == (1, 1)


def test_leadership_that_it_gives_away_itself() -> None:
    known = contents()
    known.staged.rows[LEADERS, key_of(7)] = led(7, OTHER).value
    known.staged.rows["partitions", key_of(7)] = b"newest"
    known.committed(known.end_pass(), NOTHING_GAINED)
    assert known.state.scan("partitions") == []
    assert known.state.get(LEADERS, key_of(7)) is not None


@pytest.mark.usefixtures("often")
def test_what_is_known_is_of_one_version_while_it_changes() -> None:
    """Another thread asks for it, after a connection was lost."""
    known, last = Contents(ME), 300

    def change() -> None:
        for version in range(1, last + 1):
            value = b"%d" % version
            rows = [Row(f"t{n}", b"%d" % n, value, version) for n in range(20)]
            gone = Row("t", b"%d" % (version - 1), None, version)
            new = [Row("t", value, value, version), Row("new" + value.decode(), b"k", b"v")]
            known.take_over(SharedRows(version - 1, version, [gone, *rows, *new]), NOTHING_GAINED)

    changing = Thread(target=change)
    changing.start()
    version = 0
    while version < last:
        version, values = known.known_rows()
        changed = {value for (table, _), value in values.items() if not table.startswith("new")}
        assert changed == ({b"%d" % version} if version else set())
    changing.join()


@pytest.fixture
def often() -> Iterator[None]:
    """Threads take turns after each step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_groups_go_with_their_partition_of_the_internal_topic() -> None:
    known = Contents(ME)
    ids = tuple(range(10, 10 + SLOTS))
    topic = Row("topics", OFFSETS_TOPIC.encode(), row_of(Topic(OFFSETS_TOPIC, bytes(16), ids, {})))
    mine = ids[partition_of("g", SLOTS)]
    leaders = [led(one, ME) for one in ids]
    groups = [Row("groups", name.encode(), b'["%s"]' % name.encode()) for name in "ghij"]
    everything = Gained(frozenset(ids), groups, {}, {}, [])
    known.take_over(SharedRows(0, 1, [topic._replace(version=1), *leaders]), everything)
    known.take_over(SharedRows(1, 2, [led(mine, OTHER, 2)]), NOTHING_GAINED)
    left = [key.decode() for key, _ in known.state.scan("groups")]
    assert left == [
        name for name in "ghij" if partition_of(name, SLOTS) != partition_of("g", SLOTS)
    ]
    assert left


def row_of(topic: Topic) -> bytes:
    from infrastructure.storage.repositories import topic_repository

    return topic_repository._row(topic)
