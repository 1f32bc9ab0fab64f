"""The storage engine by URL: memory://, lmdb:// in the data folder, or lmdb:///a/folder."""

from __future__ import annotations

from pathlib import Path

ALLOWED = "memory://, lmdb:// (in the data folder), or lmdb:///a/folder"


class StorageSettings:
    __slots__ = ("engine", "folder")

    def __init__(self, engine: str, folder: Path | None) -> None:
        self.engine = engine
        #: None: nothing is kept on disk.
        self.folder = folder

    @property
    def url(self) -> str:
        return f"{self.engine}://{self.folder or ''}"


def parse_storage(text: str, data_folder: Path) -> StorageSettings:
    """Raises ValueError for anything else."""
    engine, separator, path = text.strip().partition("://")
    if engine == "memory" and separator and not path:
        return StorageSettings(engine, None)
    if engine == "lmdb" and separator and (not path or path.startswith("/")):
        return StorageSettings(engine, Path(path) if path else data_folder)
    raise ValueError(ALLOWED)
