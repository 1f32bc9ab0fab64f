"""StateStore over every engine."""

from __future__ import annotations

from tests.contract.engines import OpenStore


def test_staged_rows_are_invisible_until_the_commit(store: OpenStore) -> None:
    store.state.put("topics", b"key", b"value")
    assert store.state.get("topics", b"key") is None
    assert store.state.scan("topics") == []

    store.keep()
    assert store.state.get("topics", b"key") == b"value"
    assert store.state.scan("topics") == [(b"key", b"value")]


def test_the_newest_value_of_a_row_is_read(store: OpenStore) -> None:
    store.state.put("topics", b"key", b"old")
    store.state.put("topics", b"key", b"new")
    store.state.put("topics", b"gone", b"value")
    store.state.put("topics", b"gone", None)
    store.state.put("topics", b"back", None)
    store.state.put("topics", b"back", b"again")
    store.keep()

    assert store.state.scan("topics") == [(b"back", b"again"), (b"key", b"new")]


def test_put_all_equals_single_puts(store: OpenStore) -> None:
    store.state.put("offsets", b"gone", b"value")
    store.keep()
    store.state.put_all("offsets", [(b"b", b"1"), (b"a", b""), (b"b", b"2"), (b"l" * 600, b"3")])
    store.state.put_all("offsets", [(b"c", b"4"), (b"gone", None), (b"c", None), (b"a", b"5")])
    store.state.put_all("offsets", [])
    assert store.state.scan("offsets") == [(b"gone", b"value")]

    store.keep()
    assert store.state.scan("offsets") == [(b"a", b"5"), (b"b", b"2"), (b"l" * 600, b"3")]


def test_put_all_preserves_the_order(store: OpenStore) -> None:
    store.state.put_all("offsets", [(b"%d" % (n % 7), b"%d" % n) for n in range(100)])
    store.state.put_all("other", [(b"1", b"x")])
    store.keep()
    assert store.state.scan("offsets") == [
        (b"%d" % key, b"%d" % max(n for n in range(100) if n % 7 == key)) for key in range(7)
    ]


def test_a_row_is_deleted_by_the_commit(store: OpenStore) -> None:
    store.state.put("topics", b"key", b"value")
    store.keep()
    store.state.put("topics", b"key", None)
    assert store.state.get("topics", b"key") == b"value"

    store.keep()
    assert store.state.get("topics", b"key") is None


def test_deleting_a_missing_row_succeeds(store: OpenStore) -> None:
    store.state.put("topics", b"never", None)
    store.keep()


def test_rows_are_scanned_in_the_order_of_their_keys(store: OpenStore) -> None:
    keys = [b"", b"\x00", b"\x00\x01", b"a", b"a\x00", b"a\xff", b"b", b"\xff", b"\xff\xff"]
    for key in reversed(keys):
        store.state.put("rows", key, b"of " + key)
    store.keep()

    assert store.state.scan("rows") == [(key, b"of " + key) for key in keys]


def test_tables_are_separate_if_one_name_begins_with_another(store: OpenStore) -> None:
    store.state.put("group", b"a", b"1")
    store.state.put("groups", b"a", b"2")
    store.state.put("grou", b"p\xff", b"3")
    store.keep()

    assert store.state.scan("group") == [(b"a", b"1")]
    assert store.state.get("groups", b"a") == b"2"
    assert store.state.scan("grou") == [(b"p\xff", b"3")]
    assert store.state.scan("g") == []


def test_an_empty_value_is_a_value(store: OpenStore) -> None:
    store.state.put("doomed", b"key", b"")
    store.keep()

    assert store.state.get("doomed", b"key") == b""
    assert store.state.scan("doomed") == [(b"key", b"")]


def test_a_table_can_be_scanned_in_parts(store: OpenStore) -> None:
    for number in (5, 3, 1, 4, 2):
        store.state.put("rows", b"%d" % number, b"")
    store.state.put("other", b"9", b"")
    store.keep()
    store.state.put("rows", b"2", None)
    store.keep()

    def keys(first: bytes, limit: int | None = None) -> list[bytes]:
        return [key for key, _ in store.state.scan("rows", first, limit)]

    assert keys(b"", 2) == [b"1", b"3"]
    assert keys(b"1\0", 2) == [b"3", b"4"]
    assert keys(b"4", 2) == [b"4", b"5"]
    assert keys(b"2") == [b"3", b"4", b"5"]
    assert keys(b"6", 2) == []
    assert keys(b"", 0) == []


def test_keys_may_be_as_long_as_a_group_id(store: OpenStore) -> None:
    lengths = (400, 500, 503, 504, 505, 506, 507, 510, 511, 600, 30_000)
    keys = [b"k" * n for n in lengths] + [b"k" * 29_999 + b"l", b"m"]
    for key in reversed(keys):
        store.state.put("groups", key, b"%d" % len(key))
    store.keep()

    assert store.state.scan("groups") == [(key, b"%d" % len(key)) for key in sorted(keys)]
    assert all(store.state.get("groups", key) == b"%d" % len(key) for key in keys)

    for key in keys:
        store.state.put("groups", key, None)
    store.keep()
    assert store.state.scan("groups") == []


def test_a_large_value_is_read_whole(store: OpenStore) -> None:
    value = bytes(range(256)) * 4000
    store.state.put("partitions", b"key", value)
    store.keep()

    assert store.state.get("partitions", b"key") == value


def test_rows_survive_a_restart(lasting_store: OpenStore) -> None:
    store = lasting_store
    store.state.put("topics", b"key", b"value")
    store.keep()
    store.state.put("topics", b"staged", b"and never committed")

    store.reopen()

    assert store.state.scan("topics") == [(b"key", b"value")]


def test_tables_with_rows_are_listed(store: OpenStore) -> None:
    store.state.put("b", b"1", b"")
    store.state.put("a", b"1", b"")
    store.state.put("a", b"2", b"")
    store.state.put("aa", b"", b"")
    store.state.put("gone", b"1", b"")
    assert store.state.tables() == []
    store.keep()
    store.state.put("gone", b"1", None)
    store.keep()

    assert store.state.tables() == ["a", "aa", "b"]
