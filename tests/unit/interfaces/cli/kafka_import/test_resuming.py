"""An import that was killed continues, and ends with the same store."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from infrastructure.opening import contents, open_storage
from interfaces.cli.kafka_import import copying
from interfaces.cli.kafka_import.copying import Copying
from tests.unit.interfaces.cli.kafka_import.conftest import Import
from tests.unit.interfaces.cli.kafka_import.stored import rows


class Killed(BaseException):
    pass


@pytest.fixture(autouse=True)
def small_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch has a commit."""
    monkeypatch.setattr(copying, "COMMIT_BYTES", 1)


@pytest.fixture
def killed_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """The next import ends after so many commits."""
    left: list[int | None] = [None]
    commit = Copying.commit

    def counted(self: Copying) -> None:
        commit(self)
        if left[0] is not None:
            left[0] -= 1
            if not left[0]:
                raise Killed

    monkeypatch.setattr(Copying, "commit", counted)

    def arm(commits: int | None) -> None:
        left[0] = commits

    return arm


def test_a_killed_import_continues_to_the_same_store(
    original: Path, run: Import, store: Path, killed_after: Callable[[int | None], None]
) -> None:
    assert run(original) == 0
    expected = rows(store)
    commits = -6
    while True:
        shutil.rmtree(store)
        commits += 7  # the next test ends after others
        killed_after(commits)
        try:
            run(original)
        except Killed:
            killed_after(None)
            assert rows(store).get("topics", {}) == {}
            assert run(original) == 0
            assert rows(store) == expected
            continue
        break
    assert commits > 40


def test_one_that_is_killed_again_and_again_ends(
    original: Path, run: Import, store: Path, killed_after: Callable[[int | None], None]
) -> None:
    assert run(original) == 0
    expected = rows(store)
    shutil.rmtree(store)
    attempts = 0
    while True:
        attempts += 1
        killed_after(3)
        try:
            assert run(original) == 0
        except Killed:
            continue
        break
    assert attempts > 10
    assert rows(store) == expected


def test_a_log_that_changed_begins_again(
    folder: Path, run: Import, store: Path, killed_after: Callable[[int | None], None]
) -> None:
    killed_after(12)
    with pytest.raises(Killed):
        run(folder)
    killed_after(None)
    # As if records were deleted.
    (folder / "log-start-offset-checkpoint").write_text(
        "0\n3\ntrimmed 0 10\ncodecs 0 20\ncodecs 1 20\n"
    )
    assert run(folder) == 0
    expected = rows(store)
    shutil.rmtree(store)
    assert run(folder) == 0
    assert logs(expected) == logs(rows(store))


def logs(found: dict[str, dict[object, object]]) -> list[str]:
    return sorted(map(repr, found["logs"].values()))


@pytest.mark.parametrize("dropped_whole", [False, True])
def test_a_broker_that_has_removed_a_part_does_no_harm(
    original: Path,
    run: Import,
    store: Path,
    killed_after: Callable[[int | None], None],
    dropped_whole: bool,
) -> None:
    """A start of a broker drops the partitions of an unfinished import, oldest batches first."""
    killed_after(20)
    with pytest.raises(Killed):
        run(original)
    killed_after(None)
    storage = open_storage(f"lmdb://{store}")
    with closing(storage.commit):
        found = contents(storage)
        doomed = storage.log.partition_ids()[0]
        assert doomed in found.topics.doomed_partitions()
        if dropped_whole:
            storage.log.drop(doomed, 1000)
            found.partitions.forget(doomed, 1000)
            found.transaction_index.drop(doomed, 1000)
            found.topics.dropped(doomed)
        else:
            storage.log.drop(doomed, 1)
        storage.commit.commit(lambda failure: None)
    assert run(original) == 0
    resumed = rows(store)
    shutil.rmtree(store)
    assert run(original) == 0
    assert logs(resumed) == logs(rows(store))
    assert resumed["offsets"] == rows(store)["offsets"]
    assert not resumed.get("doomed") and not resumed.get("imports")


def test_a_started_kafka_is_noticed_before_anything_is_visible(
    folder: Path,
    run: Import,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    copy_all = Copying.copy_all

    def started(self: Copying, step: Callable[[int], None]) -> None:
        copy_all(self, step)
        (folder / ".kafka_cleanshutdown").unlink()

    monkeypatch.setattr(Copying, "copy_all", started)
    assert run(folder) == 1
    assert "Kafka was started meanwhile" in capsys.readouterr().err
    assert "topics" not in rows(store)


def test_a_store_that_differs_is_noticed_and_begins_again(
    original: Path,
    run: Import,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    append = Copying._append

    def changed(self: Copying, partition: Partition, batch: RecordBatch) -> None:
        if partition.topic == "segments" and batch.base_offset == 8:
            batch.buffer[70] ^= 1
        append(self, partition, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Copying, "_append", changed)
        assert run(original) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "ottla: segments-0 differs in the store: 10 batches, 40 records, checksum"
    )
    assert "topics" not in rows(store)
    assert run(original) == 0
    resumed = rows(store)
    shutil.rmtree(store)
    assert run(original) == 0
    assert logs(resumed) == logs(rows(store))
