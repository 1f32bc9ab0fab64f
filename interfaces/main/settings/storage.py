"""URLs of the storage and of committed offsets; those of PostgreSQL may have a password."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from domain.configs.passwords import without_password
from infrastructure.opening import ENGINES

ALLOWED = (
    "memory://, lmdb:// or files:// (in the data folder), lmdb:///a/folder, files:///a/folder, "
    "or postgresql://user@host/database"
)
ALLOWED_OFFSETS = (
    "memory://, lmdb:// (with the records), sqlite:// (in the data folder), "
    "sqlite:///a/file, or postgresql://user@host/database"
)
PLAIN_URL = (
    "a URL whose user and password have no '@', '/', '?' or '#' as they are: write them as %40, "
    "%2F, %3F and %23"
)
#: User and password, hosts, database, parameters of libpq. libpq and the masking of passwords
#: would parse other URLs differently.
_POSTGRESQL = re.compile(r"postgresql://([^@/?#]*@)?[^@/?#]*(/[^@/?#]*)?(\?[^@#]*)?")
OFFSETS_FILE = "offsets.db"


class StorageSettings:
    __slots__ = ("engine", "folder", "rows", "shown", "url")

    def __init__(
        self, engine: str, folder: Path | None, url: str | None = None, shown: str | None = None
    ) -> None:
        self.engine = engine
        #: None: in memory, or in a database.
        self.folder = folder
        self.url = url or f"{engine}://{folder or ''}"
        #: Without the password.
        self.shown = shown or self.url
        #: Of a store that is served read-only.
        self.rows: Path | None = None

    @property
    def in_database(self) -> bool:
        return ENGINES[self.engine].database is not None

    @property
    def in_memory(self) -> bool:
        return self.folder is None and not self.in_database


def parse_storage(text: str, data_folder: Path) -> StorageSettings:
    """Raises ValueError with the allowed URLs."""
    scheme, separator, path = text.strip().partition("://")
    engine = ENGINES.get(scheme)
    if engine is None or not separator:
        raise ValueError(ALLOWED)
    if engine.database is not None and path:
        url = text.strip()
        return StorageSettings(scheme, None, url, _without_password(url, ALLOWED, _hosts(path)))
    if engine.database is not None or (path and not (engine.folder and path.startswith("/"))):
        raise ValueError(ALLOWED)
    folder = None if engine.folder is None else Path(path) if path else data_folder
    return StorageSettings(scheme, folder)


class OffsetsSettings:
    __slots__ = ("is_file", "shown", "url")

    def __init__(
        self, url: str | None = None, shown: str | None = None, is_file: bool = False
    ) -> None:
        #: None: with the records.
        self.url = url
        #: Without the password.
        self.shown = shown or url
        #: A local file loads soon; a server may not be up yet.
        self.is_file = is_file


class OffsetsElsewhere(Exception):
    """Committed offsets may not be there, with the storage of the records; says why."""


def parse_offsets(text: str | None, storage: StorageSettings) -> OffsetsSettings:
    """Raises ValueError with the allowed URLs."""
    if text is None:
        return OffsetsSettings()
    scheme, separator, place = text.strip().partition("://")
    if not separator or not _is_allowed(scheme, place):
        raise ValueError(ALLOWED_OFFSETS)
    settings = _offsets(scheme, place, storage)
    if storage.in_memory and scheme != storage.engine:
        raise OffsetsElsewhere("the offsets would outlive the records")
    if storage.in_database:
        raise OffsetsElsewhere("the offsets are in the same database as the records: unset offsets")
    return settings


def _is_allowed(scheme: str, place: str) -> bool:
    if scheme == "sqlite":
        return not place or place.startswith("/")
    return bool(place) if scheme == "postgresql" else scheme in ("memory", "lmdb") and not place


def _offsets(scheme: str, place: str, storage: StorageSettings) -> OffsetsSettings:
    folder = storage.folder
    if scheme == "memory":
        return OffsetsSettings(None if storage.in_memory else "memory://")
    if scheme == "sqlite":
        if not place and folder is not None:
            place = str(folder.absolute() / OFFSETS_FILE)
        return OffsetsSettings(f"sqlite://{place}", is_file=True)
    if scheme == "postgresql":
        url = f"postgresql://{place}"
        return OffsetsSettings(url, _without_password(url, ALLOWED_OFFSETS, [url]))
    return OffsetsSettings()


def _hosts(place: str) -> list[str]:
    """Each of them as a URL: libpq takes several."""
    login_and_hosts = place.partition("?")[0].partition("/")[0]
    return [f"//{each}" for each in login_and_hosts.rpartition("@")[2].split(",")]


def _without_password(url: str, allowed: str, hosts: list[str]) -> str:
    """Raises ValueError with the allowed URLs."""
    if not _POSTGRESQL.fullmatch(url):
        raise ValueError(PLAIN_URL)
    try:
        _ = [urlsplit(each).port for each in hosts]
    except ValueError as wrong:
        raise ValueError(allowed) from wrong
    return without_password(url)
