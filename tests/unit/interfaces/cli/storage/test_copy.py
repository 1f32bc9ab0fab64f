"""Copies between engines: nothing is missing, and segments roll as the broker rolls them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from application.ports.commit import at_once
from domain.cluster.registration import PartitionRegistration
from domain.topics.topic import Topic
from infrastructure.kafka_folder.checkpoints import topic_id
from infrastructure.opening import contents, folder_of, open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.repositories.registration_repository import StoredRegistrationRepository
from interfaces.cli.storage.opened import batches
from interfaces.main.__main__ import main
from tests.fakes.batches import LZ4, record_batch
from tests.fakes.kafka_folder import unpacked

Captured = pytest.CaptureFixture[str]
Dump = Callable[[str], str]
TIMES = (0, 1_699_999_999_999, 1_700_000_000_000, 1_800_000_000_000, 1 << 50)


def copy(source: str, target: str) -> None:
    assert main(["storage", "copy", source, target]) == 0


def everything(url: str) -> dict[str, Any]:
    """All rows, batches, where searches by timestamp begin, and how often data may be lost."""
    storage = open_storage(folder_of(url).url, read_only=True)
    with closing(storage.commit):
        log, state = storage.log, storage.state
        return {
            "rows": {name: state.scan(name) for name in state.tables()},
            "logs": {
                number: [bytes(batch.buffer) for batch in batches(log, number)]
                for number in log.partition_ids()
            },
            "times": {
                number: [log.at_timestamp(number, time) for time in TIMES]
                for number in log.partition_ids()
            },
            "losses": storage.info.losses,
        }


@pytest.fixture
def dump(capsys: Captured) -> Dump:
    def dumped(store: str) -> str:
        capsys.readouterr()
        assert main(["storage", "dump", store, "--records"]) == 0
        return capsys.readouterr().out

    return dumped


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of all kinds: topics, groups, offsets, transactions, users, ACLs, quotas, configs."""
    folder = tmp_path_factory.mktemp("imported")
    kafka, store = unpacked(folder / "kafka"), folder / "store"
    assert main(["import", "kafka", str(kafka), "--data", str(store)]) == 0
    return store


def test_all_rows_and_records_come_through_files_and_back(
    imported: Path, tmp_path: Path, dump: Dump
) -> None:
    files, again, back = (f"{tmp_path}/{name}" for name in ("files", "again", "back"))
    copy(str(imported), f"files://{files}")
    copy(files, f"files://{again}")
    copy(again, back)
    before = everything(str(imported))
    assert {"topics", "offsets", "users", "acls", "quotas", "transactions"} <= set(before["rows"])
    assert before["losses"] > 0
    for store in (files, again, back):
        assert everything(store) == before
        assert dump(store) == dump(str(imported))
        assert main(["storage", "verify", store]) == 0
    assert folder_of(files).url == f"files://{files}"
    assert folder_of(back).url == f"lmdb://{back}"


def test_logs_have_the_names_that_kafka_gives_them(imported: Path, tmp_path: Path) -> None:
    copy(str(imported), f"files://{tmp_path}/files")
    storage = open_storage(f"files://{tmp_path}/files", read_only=True)
    with closing(storage.commit):
        expected = {
            f"{topic.name}-{number}": topic.topic_id
            for topic in contents(storage).topics.load()
            for number, partition_id in enumerate(topic.partition_ids)
            if partition_id in storage.log.partition_ids()
        }
    found = {
        path.parent.name: topic_id(path)
        for path in (tmp_path / "files").glob("*/partition.metadata")
    }
    assert found == expected
    assert not list((tmp_path / "files").glob("*-stray"))


@pytest.fixture
def filled(tmp_path: Path) -> Callable[..., Path]:
    """A store with one topic; each batch has one record with the given timestamp."""

    def fill(timestamps: list[int], **configs: str) -> Path:
        storage = open_storage(f"lmdb://{tmp_path}/filled", "os")
        with closing(storage.commit):
            topic(storage, "t", configs)
            for offset, timestamp in enumerate(timestamps):
                append(storage, 0, offset, timestamp)
            at_once(storage.commit.commit)
        return tmp_path / "filled"

    return fill


def topic(storage: Storage, name: str, configs: dict[str, str]) -> None:
    topics = contents(storage).topics
    topics.save(Topic(name, b"i" * 16, topics.reserve_partition_ids(1), configs))


def append(storage: Storage, partition_id: int, offset: int, timestamp: int) -> None:
    batch = record_batch([b"v"], base_offset=offset, timestamp=timestamp)
    storage.log.append(partition_id, offset, batch)


def segments(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in folder.glob("t-0/*.log"))


def test_the_next_leader_epoch_is_not_below_those_of_several_brokers(
    filled: Callable[..., Path], tmp_path: Path
) -> None:
    store = f"lmdb://{filled([0])}"
    storage = open_storage(store, "os")
    with closing(storage.commit):
        led = [(each, PartitionRegistration((1, 2), 2, epoch)) for each, epoch in ((0, 9), (1, 3))]
        StoredRegistrationRepository(storage.state).save(led)
        at_once(storage.commit.commit)
    copy(store, f"files://{tmp_path}/copied")
    assert everything(f"files://{tmp_path}/copied")["losses"] == 9


def test_segments_roll_by_time(filled: Callable[..., Path], tmp_path: Path) -> None:
    store = filled([1000, 1500, 2001, 2002, 3002, 5000], **{"segment.ms": "1000"})
    copy(str(store), f"files://{tmp_path}/files")
    assert segments(tmp_path / "files") == [0, 2, 4, 5]


def test_segments_roll_by_size(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}/large", "os")
    with closing(storage.commit):
        topic(storage, "t", {"segment.bytes": "1048576"})
        for offset in range(5):
            batch = record_batch([b"v" * 400_000], base_offset=offset)
            storage.log.append(0, offset, batch)
        at_once(storage.commit.commit)
    copy(f"{tmp_path}/large", f"files://{tmp_path}/files")
    assert segments(tmp_path / "files") == [0, 2, 4]


def test_the_active_segment_begins_where_the_rows_say(
    filled: Callable[..., Path], tmp_path: Path
) -> None:
    store = filled([1000, 1001, 1002, 1003], **{"segment.ms": "1000"})
    storage = open_storage(f"lmdb://{store}", "os")
    with closing(storage.commit):
        row = b'{"end":[4,1003,3],"start":0,"size":276,"segment":[3,69,1003]}'
        storage.state.put("partitions", (0).to_bytes(4, "big"), row)
        at_once(storage.commit.commit)
    copy(str(store), f"files://{tmp_path}/files")
    assert segments(tmp_path / "files") == [0, 3]


def test_data_of_a_deleted_topic_has_no_name(filled: Callable[..., Path], tmp_path: Path) -> None:
    store = filled([1000])
    storage = open_storage(f"lmdb://{store}", "os")
    with closing(storage.commit):
        topics = contents(storage).topics
        topics.delete(topics.load()[0])
        at_once(storage.commit.commit)
    copy(str(store), f"files://{tmp_path}/files")
    assert [path.parent.name for path in (tmp_path / "files").glob("*/*.log")] == [
        f"partition.{0:032x}-stray"
    ]


LOGS = st.lists(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(-1, 5000), st.booleans()),
        max_size=30,
    ),
    min_size=1,
    max_size=3,
)
ROWS = st.dictionaries(st.binary(min_size=1, max_size=600), st.binary(max_size=50), max_size=5)


@settings(max_examples=15)
@given(LOGS, st.dictionaries(st.sampled_from(["groups", "offsets", "aborted", "x"]), ROWS))
def test_any_store_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    logs: list[list[tuple[int, int, int, bool]]],
    tables: dict[str, dict[bytes, bytes]],
) -> None:
    folder = tmp_path_factory.mktemp("any")
    storage = open_storage(f"lmdb://{folder}/first", "os")
    with closing(storage.commit):
        topics = contents(storage).topics
        ids = topics.reserve_partition_ids(len(logs))
        # The last log belongs to no topic.
        topics.save(Topic("t", b"i" * 16, ids[:-1], {"segment.ms": "1000"}))
        for partition_id, log in zip(ids, logs, strict=True):
            offset = 0
            for count, gap, timestamp, compressed in log:
                offset += gap
                batch = record_batch(
                    [b"v" * 40] * count,
                    base_offset=offset,
                    timestamp=timestamp,
                    codec=LZ4 if compressed else 0,
                )
                offset += count
                storage.log.append(partition_id, offset - 1, batch)
        for table, found in tables.items():
            for key, value in found.items():
                storage.state.put(table, key, value)
        at_once(storage.commit.commit)
    copy(f"{folder}/first", f"files://{folder}/files")
    copy(f"{folder}/files", f"lmdb://{folder}/back")
    before = everything(f"{folder}/first")
    after = everything(f"{folder}/back")
    assert everything(f"{folder}/files") == after
    assert (after["rows"], after["logs"]) == (before["rows"], before["logs"])
