"""Faults of the engine of files."""

from __future__ import annotations

import pytest

from infrastructure.storage.files import log_folder
from infrastructure.storage.files.change import Change
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.staged import StagedLogs


def emptied_segments_come_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Change, "_gone", lambda self: [])


def files_of_no_commit_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(log_folder, "recover", lambda log: None)


def failed_passes_leave_their_files(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StagedLogs, "_undo", lambda self, change: None)


def folders_keep_their_names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LogFolder, "move_away", lambda self, log: log.folder)


def swaps_do_not_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("infrastructure.storage.files.loading.swap_files", lambda plain: None)


FILES = [
    emptied_segments_come_back,
    files_of_no_commit_stay,
    failed_passes_leave_their_files,
    folders_keep_their_names,
    swaps_do_not_end,
]
