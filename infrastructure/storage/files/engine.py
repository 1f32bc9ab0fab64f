"""The engine of `files://FOLDER`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from infrastructure.storage.engine import (
    Engine,
    Storage,
    StorageInfo,
    StoreFolder,
    StoreRoom,
    StoreSnapshot,
    ToLoop,
)
from infrastructure.storage.flush import Flush


def _open(
    place: str,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    from infrastructure.storage.files.cold_reads import ColdReads
    from infrastructure.storage.files.commit import FilesCommit
    from infrastructure.storage.files.environment import FilesEnvironment
    from infrastructure.storage.files.log_folder import LogFolder
    from infrastructure.storage.files.log_store import FilesLogStore
    from infrastructure.storage.files.open_files import OpenFiles, most_open_files
    from infrastructure.storage.files.power_cut import CutLogs
    from infrastructure.storage.files.rows import PREFIX
    from infrastructure.storage.files.staged import StagedLogs
    from infrastructure.storage.lmdb.commit import WritePass
    from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES
    from infrastructure.storage.lmdb.own_rows import OwnRows
    from infrastructure.storage.lmdb.state_store import LmdbStateStore, raise_leader_epoch
    from infrastructure.storage.lmdb.timestamp_index import TimestampIndex

    path = Path(place)
    environment = FilesEnvironment(path, flush, map_size_bytes or MAP_SIZE_BYTES, read_only)
    if not read_only:
        environment.reserve.make()
    files = OpenFiles(most_open_files(), read_only, None if to_loop is None else ColdReads(to_loop))
    rows = OwnRows(environment.env, environment.rows, PREFIX)
    folder = LogFolder(path, rows, files, beside=False)
    folder.defers = flush == "interval"
    folder.syncs = flush == "commit"
    staged = StagedLogs(folder, syncs=flush == "commit")
    write_pass = WritePass(environment, staged)
    commit = FilesCommit(environment, write_pass, folder)
    folder.keep = commit.keep
    state = LmdbStateStore(environment, write_pass)

    def take_snapshot() -> StoreSnapshot:
        from infrastructure.storage.files.snapshot import FilesSnapshot

        return FilesSnapshot(environment, write_pass, commit, folder)

    return Storage(
        FilesLogStore(
            TimestampIndex(environment.env, environment.timestamps), folder, write_pass, staged
        ),
        state,
        commit,
        StorageInfo(
            "files",
            path,
            environment.used_bytes,
            flush,
            environment.store_id,
            environment.power_cut,
            environment.live_bytes,
            environment.losses,
        ),
        commit.start_flush if flush == "interval" else None,
        lambda: StoreRoom(
            environment.map_size_bytes,
            environment.used_bytes,
            environment.free_bytes,
            environment.page_bytes,
        ),
        take_snapshot,
        environment.reserve,
        commit.check_file,
        partial(raise_leader_epoch, state, environment.losses),
        environment.env.reader_check,
        CutLogs(rows, write_pass),
    )


def _folder(path: Path) -> StoreFolder:
    from infrastructure.storage.files.folder import FilesFolder

    return FilesFolder(path)


FILES = Engine("files", "/path/to/folder", _open, _folder)
