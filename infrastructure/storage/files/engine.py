"""The engine of `files://FOLDER`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from infrastructure.storage.engine import (
    Engine,
    Storage,
    StoreFolder,
    StoreSnapshot,
    ToLoop,
)
from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.engine import info_of, room_in


def _open(
    place: str,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    return _opened(Path(place), Path(place), flush, map_size_bytes, read_only, to_loop)


def open_kafkas(place: Path) -> Storage:
    """A new store may be made in a log folder of Kafka's."""
    from infrastructure.storage.files.environment import InKafkasFolder

    InKafkasFolder(place, "commit").close(synced=True)
    return _open(str(place), "commit", None, False, None)


def open_frozen(place: Path, rows: Path, to_loop: ToLoop | None = None) -> Storage:
    """Nothing of the store changes: `rows` is a folder for changes of rows."""
    return _opened(place, rows, "os", None, False, to_loop)


def _opened(
    path: Path,
    rows_folder: Path,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    from infrastructure.storage.files.checking import FilesCheck
    from infrastructure.storage.files.cold_reads import ColdReads
    from infrastructure.storage.files.commit import FilesCommit
    from infrastructure.storage.files.environment import FilesEnvironment
    from infrastructure.storage.files.log_folder import LogFolder
    from infrastructure.storage.files.log_store import FilesLogStore
    from infrastructure.storage.files.open_files import OpenFiles, most_open_files
    from infrastructure.storage.files.power_cut import CutLogs
    from infrastructure.storage.files.read_only import ReadOnlyReserve
    from infrastructure.storage.files.rows import PREFIX
    from infrastructure.storage.files.staged import StagedLogs
    from infrastructure.storage.lmdb.commit import WritePass
    from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES
    from infrastructure.storage.lmdb.own_rows import OwnRows
    from infrastructure.storage.lmdb.state_store import LmdbStateStore, raise_leader_epoch
    from infrastructure.storage.lmdb.timestamp_index import TimestampIndex

    is_frozen = rows_folder != path
    map_size_bytes = map_size_bytes or MAP_SIZE_BYTES
    environment = FilesEnvironment(rows_folder, flush, map_size_bytes, read_only)
    try:
        lock = _kafkas_lock(path, to_write=not read_only and not is_frozen)
    except StorageInUse:
        environment.close()
        raise
    if not read_only:
        environment.reserve.make()
    cold = None if to_loop is None else ColdReads(to_loop)
    files = OpenFiles(most_open_files(), read_only or is_frozen, cold)
    rows = OwnRows(environment.env, environment.rows, PREFIX)
    folder = LogFolder(path, rows, files, beside=False)
    folder.is_frozen = is_frozen
    folder.removals.defers = flush == "interval"
    folder.syncs = flush == "commit"
    staged = StagedLogs(folder, syncs=flush == "commit")
    write_pass = WritePass(environment, staged)
    commit = FilesCommit(environment, write_pass, folder, lock)
    folder.keep = commit.keep
    state = LmdbStateStore(environment, write_pass)
    # For tools; a broker with many logs would start later.
    log_bytes = folder.size_bytes() if read_only else 0

    def take_snapshot() -> StoreSnapshot:
        from infrastructure.storage.files.snapshot import FilesSnapshot

        return FilesSnapshot(environment, write_pass, commit, folder)

    return Storage(
        FilesLogStore(
            TimestampIndex(environment.env, environment.timestamps), folder, write_pass, staged
        ),
        state,
        commit,
        info_of(environment, "files", path, flush, log_bytes),
        commit.start_flush if flush == "interval" else None,
        partial(room_in, environment),
        None if is_frozen else take_snapshot,
        ReadOnlyReserve() if is_frozen else environment.reserve,
        commit.check_file,
        partial(raise_leader_epoch, state, environment.losses),
        environment.env.reader_check,
        FilesCheck(folder),
        CutLogs(rows, write_pass),
    )


def _kafkas_lock(path: Path, to_write: bool) -> int:
    """Kafka does not start on a folder of its own meanwhile."""
    from infrastructure.kafka_folder.files import is_log_folder
    from infrastructure.kafka_folder.folder_lock import held
    from infrastructure.kafka_folder.refused import FolderRefused

    try:
        return held(path, to_write) if is_log_folder(path) else -1
    except FolderRefused as refusal:
        raise StorageInUse(str(refusal)) from None


def _folder(path: Path) -> StoreFolder:
    from infrastructure.storage.files.folder import FilesFolder

    return FilesFolder(path)


FILES = Engine("files", "/path/to/folder", _open, _folder)
