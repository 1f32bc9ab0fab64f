"""The engine of `lmdb://FOLDER`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from infrastructure.storage.lmdb.environment import LmdbEnvironment


def _open(
    place: str,
    flush: Flush,
    map_size_bytes: int | None,
    read_only: bool,
    to_loop: ToLoop | None,
) -> Storage:
    from infrastructure.storage.lmdb.commit import LmdbCommit, WritePass
    from infrastructure.storage.lmdb.entries import StagedEntries
    from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES, LmdbEnvironment
    from infrastructure.storage.lmdb.log_store import LmdbLogStore
    from infrastructure.storage.lmdb.state_store import LmdbStateStore, raise_leader_epoch

    folder = Path(place)
    environment = LmdbEnvironment(
        folder, flush, map_size_bytes or MAP_SIZE_BYTES, read_only, to_loop
    )
    if not read_only:
        environment.reserve.make()
    entries = StagedEntries(environment.batches, environment.loader)
    write_pass = WritePass(environment, entries)
    commit = LmdbCommit(environment, write_pass)

    def take_snapshot() -> StoreSnapshot:
        from infrastructure.storage.lmdb.snapshot import LmdbSnapshot

        return LmdbSnapshot(environment, write_pass, commit)

    state = LmdbStateStore(environment, write_pass)

    return Storage(
        LmdbLogStore(environment, write_pass, entries),
        state,
        commit,
        info_of(environment, "lmdb", folder, flush),
        commit.start_flush if flush == "interval" else None,
        partial(room_in, environment),
        take_snapshot,
        environment.reserve,
        commit.check_file,
        partial(raise_leader_epoch, state, environment.losses),
        environment.env.reader_check,
    )


def info_of(
    environment: LmdbEnvironment, engine: str, folder: Path, flush: Flush, log_bytes: int = 0
) -> StorageInfo:
    """`log_bytes`: of logs that are not in the environment."""
    return StorageInfo(
        engine,
        folder,
        environment.used_bytes + log_bytes,
        flush,
        environment.store_id,
        environment.power_cut,
        environment.live_bytes + log_bytes,
        environment.losses,
    )


def room_in(environment: LmdbEnvironment) -> StoreRoom:
    return StoreRoom(
        environment.map_size_bytes,
        environment.used_bytes,
        environment.free_bytes,
        environment.page_bytes,
    )


def _folder(path: Path) -> StoreFolder:
    from infrastructure.storage.lmdb.folder import LmdbFolder

    return LmdbFolder(path)


LMDB = Engine("lmdb", "/path/to/folder", _open, _folder)
