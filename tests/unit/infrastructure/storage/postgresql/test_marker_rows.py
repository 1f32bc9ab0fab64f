"""What two threads have read of the requested markers, beside this broker's own commits."""

from __future__ import annotations

from typing import Any

from infrastructure.storage.postgresql.marker_rows import MarkerRows, MarkersRead


class Database:
    def __init__(self, **rows: bytes) -> None:
        self.rows = {name.encode(): value for name, value in rows.items()}

    def execute(self, *_: Any, binary: bool) -> Database:
        return self

    def fetchall(self) -> list[tuple[bytes, bytes]]:
        return list(self.rows.items())


def read(markers: MarkerRows, **rows: bytes) -> MarkersRead:
    return markers.read(Database(**rows))  # type: ignore[arg-type]


def test_what_others_have_changed() -> None:
    markers = MarkerRows()
    changes = markers.changes(read(markers, a=b"1", b=b"2"), [(b"b", b"2"), (b"c", b"3")])
    assert sorted(changes) == [(b"a", b"1"), (b"c", None)]


def test_a_read_that_began_before_the_newest_one_is_dropped() -> None:
    markers = MarkerRows()
    older, newer = read(markers, a=b"1"), read(markers)
    assert markers.changes(newer, [(b"a", b"1")]) == [(b"a", None)]
    assert markers.changes(older, []) == []


def test_own_commits_since_a_read_began_are_applied_again() -> None:
    markers = MarkerRows()
    found = read(markers, a=b"1")
    markers.committed([(b"a", None), (b"b", b"2")])
    assert markers.changes(found, [(b"b", b"2")]) == []
    assert markers.changes(read(markers), [(b"b", b"2")]) == [(b"b", None)], "others removed it"
