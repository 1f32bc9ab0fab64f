"""Which rows a broker has, by its own changes and those of others; no database is asked."""

from __future__ import annotations

from struct import pack

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
    contents.take_over(SharedRows(1, [led(7, ME)]), gained(7, snapshot, end=5))
    return contents


def test_it_has_the_rows_of_what_it_gains_and_forgets_those_of_what_it_loses() -> None:
    known = contents()
    assert known.state.get("partitions", key_of(7)) == b"snapshot"
    assert known.ends == {7: 5}
    changes = known.changes_of(7)
    known.take_over(SharedRows(2, [led(7, OTHER, 2)]), NOTHING_GAINED)
    assert known.state.scan("partitions") == []
    assert known.ends == {}
    assert known.changes_of(7) > changes, "answers of before count no more"


def test_a_partition_that_it_has_already_is_not_read_again() -> None:
    """What was read may be older than its own commits."""
    known = contents()
    older = gained(7, Row("partitions", key_of(7), b"older"), end=3)
    known.take_over(SharedRows(2, [led(7, ME, 2)]), older)
    assert known.state.get("partitions", key_of(7)) == b"snapshot"
    assert known.ends == {7: 5}


def test_what_it_gave_away_meanwhile_is_not_gained() -> None:
    """Changes of before its own commit were read, with what it had to know of them then."""
    known = contents()
    known.take_over(SharedRows(2, [led(7, OTHER, 2)]), NOTHING_GAINED)
    older = gained(7, Row("partitions", key_of(7), b"older"), end=3)
    known.take_over(SharedRows(1, [led(7, ME, 1)]), older)
    assert known.state.scan("partitions") == []
    assert known.ends == {}
    newer = gained(7, Row("partitions", key_of(7), b"newer"), end=9)
    known.take_over(SharedRows(3, [led(7, ME, 3)]), newer)
    assert known.state.get("partitions", key_of(7)) == b"newer"
    assert known.ends == {7: 9}


def test_what_comes_back_at_once_is_read_again() -> None:
    """When it was read, this broker still knew it."""
    known = contents()
    again: list[bool] = []
    known.read_again = lambda: again.append(True)
    known.staged.rows[LEADERS, key_of(7)] = led(7, OTHER).value
    staged = known.end_pass()
    back = SharedRows(3, [led(7, ME, 3)])
    known.take_over(back, NOTHING_GAINED)
    known.committed(staged, NOTHING_GAINED)
    assert again
    assert known.version == 2
    known.take_over(back, gained(7, Row("partitions", key_of(7), b"newer"), end=9))
    assert (known.version, known.ends) == (3, {7: 9})


def test_a_partition_that_is_gained_brings_no_older_rows_of_others() -> None:
    known = contents()
    rows = [Row("partitions", key_of(7), b"older"), Row("partitions", key_of(8), b"new")]
    both = gained(8, *rows)._replace(partition_ids=frozenset([7, 8]))
    known.take_over(SharedRows(2, [led(7, ME, 2), led(8, ME, 2)]), both)
    assert known.state.get("partitions", key_of(7)) == b"snapshot"
    assert known.state.get("partitions", key_of(8)) == b"new"


def test_changes_of_others_wait_for_its_own() -> None:
    """Those of a later version come behind, and its own rows do not come back to it."""
    known = contents()
    followed: list[bytes] = []
    known.follow("topics", followed.extend)
    known.staged.rows["topics", b"mine"] = b"row"
    staged = known.end_pass()
    mine, others = Row("topics", b"mine", b"row", 2), Row("topics", b"other", b"row", 3)
    known.take_over(SharedRows(3, [mine, others]), NOTHING_GAINED)
    assert not followed
    known.committed(staged, NOTHING_GAINED)
    assert followed == [b"other"]
    assert known.version == 3
    assert [key for key, _ in known.state.scan("topics")] == [b"mine", b"other"]


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


def test_groups_go_with_their_partition_of_the_internal_topic() -> None:
    known = Contents(ME)
    ids = tuple(range(10, 10 + SLOTS))
    topic = Row("topics", OFFSETS_TOPIC.encode(), row_of(Topic(OFFSETS_TOPIC, bytes(16), ids, {})))
    mine = ids[partition_of("g", SLOTS)]
    leaders = [led(one, ME) for one in ids]
    groups = [Row("groups", name.encode(), b'["%s"]' % name.encode()) for name in "ghij"]
    everything = Gained(frozenset(ids), groups, {}, {}, [])
    known.take_over(SharedRows(1, [topic._replace(version=1), *leaders]), everything)
    known.take_over(SharedRows(2, [led(mine, OTHER, 2)]), NOTHING_GAINED)
    left = [key.decode() for key, _ in known.state.scan("groups")]
    assert left == [
        name for name in "ghij" if partition_of(name, SLOTS) != partition_of("g", SLOTS)
    ]
    assert left


def row_of(topic: Topic) -> bytes:
    from infrastructure.storage.repositories import topic_repository

    return topic_repository._row(topic)
