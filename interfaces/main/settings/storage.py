"""Where the data is, by URL: messages, and committed offsets that have a place of their own."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

ALLOWED = "memory://, lmdb:// (in the data folder), or lmdb:///a/folder"
ALLOWED_OFFSETS = (
    "memory://, lmdb:// (where the messages are), sqlite:// (in the data folder), "
    "sqlite:///a/file, or postgresql://user@host/database"
)
PLAIN_URL = (
    "a URL whose user and password have no '@', '/', '?' or '#' as they are: write them as %40, "
    "%2F, %3F and %23"
)
#: User and password, hosts, database, and what else libpq is told. Anything beside would be read
#: in one way by who connects, and in another by who leaves out the password.
_POSTGRESQL = re.compile(r"postgresql://([^@/?#]*@)?[^@/?#]*(/[^@/?#]*)?(\?[^@#]*)?")
OFFSETS_FILE = "offsets.db"


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


class OffsetsSettings:
    __slots__ = ("shown", "url")

    def __init__(self, url: str | None = None, shown: str | None = None) -> None:
        #: None: where the messages are.
        self.url = url
        #: Without what nobody else should see.
        self.shown = shown or url


class OffsetsOutliveMessages(Exception):
    """They would point into messages that are gone."""


def parse_offsets(text: str | None, storage: StorageSettings) -> OffsetsSettings:
    """Raises ValueError for what is no place for them."""
    if text is None:
        return OffsetsSettings()
    engine, separator, place = text.strip().partition("://")
    if not separator or (place and engine in ("memory", "lmdb")):
        raise ValueError(ALLOWED_OFFSETS)
    if engine == "memory":
        return OffsetsSettings(None if storage.folder is None else "memory://")
    if engine == "sqlite" and (not place or place.startswith("/")):
        url, shown = f"sqlite://{place}", f"sqlite://{place}"
    elif engine == "postgresql" and place:
        url, shown = text.strip(), _without_secrets(text.strip())
    elif engine == "lmdb":
        url = shown = ""
    else:
        raise ValueError(ALLOWED_OFFSETS)
    if storage.folder is None:
        raise OffsetsOutliveMessages()
    if engine == "sqlite" and not place:
        url = shown = f"sqlite://{storage.folder.absolute() / OFFSETS_FILE}"
    return OffsetsSettings(url or None, shown)


def _without_secrets(url: str) -> str:
    if not _POSTGRESQL.fullmatch(url):
        raise ValueError(PLAIN_URL)
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError as wrong:
        raise ValueError(ALLOWED_OFFSETS) from wrong
    user = f"{parts.username}@" if parts.username else ""
    return f"postgresql://{user}{parts.hostname or ''}{port}{parts.path}"
