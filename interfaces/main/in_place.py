"""What `ottla serve --storage files://...` does before it opens its store: the log folder of a
stopped Kafka is taken over, and with `--read-only` rows get a folder of their own.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from domain.errors import StorageFailed
from infrastructure.opening import contents, folder_of, open_in_kafkas_folder, open_storage
from infrastructure.storage.errors import StorageUnusable
from interfaces.main.settings.origin import SettingsError
from interfaces.main.settings.sources import Settings

ENGINE = "files"


@contextmanager
def prepared(settings: Settings, read_only: bool, skip_unsupported: bool) -> Iterator[None]:
    """Raises SettingsError, before anything is written."""
    storage = settings.storage
    if storage.engine != ENGINE or storage.folder is None:
        if read_only:
            raise SettingsError(f"--read-only needs --storage files://..., not {storage.shown}")
        yield
        return
    rows: Path | None = None
    try:
        if read_only:
            rows = Path(mkdtemp(prefix="ottla-rows-"))
        with _prepared(storage.folder, storage.url, rows, skip_unsupported):
            storage.rows = rows
            yield
    finally:
        if rows is not None:
            shutil.rmtree(rows, ignore_errors=True)


@contextmanager
def _prepared(path: Path, url: str, rows: Path | None, skip_unsupported: bool) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            _prepare(path, url, rows, skip_unsupported, stack)
        except (StorageFailed, StorageUnusable, OSError) as refusal:
            raise SettingsError(f"cannot serve {url}: {refusal}") from None
        yield


def _prepare(
    path: Path, url: str, rows: Path | None, skip_unsupported: bool, stack: ExitStack
) -> None:
    from infrastructure.kafka_folder.files import is_log_folder
    from interfaces.cli.kafka_import.in_place import (
        check_no_part_of_kafkas,
        check_unchanged,
        take_over,
    )

    has_store, kafkas = folder_of(url).has_store(), is_log_folder(path)
    if rows is not None:
        if not has_store and not kafkas:
            raise StorageUnusable(f"there is no store in {path}, and with --read-only none is made")
        if has_store:
            from infrastructure.storage.files.read_only import rows_of

            stack.enter_context(rows_of(path, rows))
    if not has_store and not kafkas:
        check_no_part_of_kafkas(path)
    if has_store and kafkas:
        storage = open_storage(url, read_only=rows is None, rows=rows)
        with closing(storage.commit):
            found = contents(storage)
            has_store = found.kafka_folder.metadata_bytes() is not None
            check_unchanged(path, found)
    if kafkas and not has_store:
        opened = partial(open_in_kafkas_folder, path)
        if rows is not None:
            opened = partial(open_storage, url, rows=rows)
        taken = take_over(path, opened, skip_unsupported, rows is not None)
        print(f"ottla: {path}: {taken}", file=sys.stderr)
