"""Faults of the engine of files."""

from __future__ import annotations

import os

import pytest

from infrastructure.storage.files import log_folder
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.rows import LogRow
from infrastructure.storage.files.staged import StagedLogs


def emptied_segments_come_back(patch: pytest.MonkeyPatch) -> None:
    known = LogFolder._bases

    def with_files(self: LogFolder, partition_id: int, row: LogRow) -> set[int]:
        """All segments between the first and the active one, as without rows of their own."""
        folder = self._settled(partition_id, row)
        found = {int(name[:20]) for name in os.listdir(folder) if name.endswith(".log")}
        between = {base for base in found if row.first_base <= base < row.active_base}
        return known(self, partition_id, row) | between

    patch.setattr(LogFolder, "_bases", with_files)


def files_of_no_commit_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(log_folder, "recover", lambda log, bases: None)


def failed_passes_leave_their_files(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StagedLogs, "_undo", lambda self, change: None)


def folders_keep_their_names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LogFolder, "move_away", lambda self, log, segments: log.folder)


def swaps_do_not_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("infrastructure.storage.files.loading.swap_files", lambda plain: None)


FILES = [
    emptied_segments_come_back,
    files_of_no_commit_stay,
    failed_passes_leave_their_files,
    folders_keep_their_names,
    swaps_do_not_end,
]
