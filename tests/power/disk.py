"""A simulated disk that loses power at any moment; a seed draws what is left.

Guaranteed: writes to a file before a sync began are durable when the sync ends, and a write through
an O_DSYNC descriptor when it returns. Of later writes, each page of 4 KiB may have any version it
had, or be torn: each sector of 512 bytes in another version, in any order of writes. A file that
grew may have its old or new length, with zeros for missing pages. A file's name is durable once its
folder was synced; before that, names appear in the order of creation.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.power.recording import CREATED, SYNCED, TRUNCATED, Event

PAGE = 4096
SECTOR = 512
_ZEROS = bytes(PAGE)

#: How page versions are drawn; styles that find more faults come more often.
STYLES = ("each", "each", "torn", "torn", "in order", "roots", "one", "all", "none")

#: Picks one of a page's versions; each is (time of its write, content), the oldest is durable.
Version = tuple[int, bytes]
Pick = Callable[[int, list[Version]], bytes]


class File:
    def __init__(self) -> None:
        self.durable = bytearray()
        #: By page: the durable version, then versions that are not synced.
        self.pending: dict[int, list[Version]] = {}
        #: The durable length, then lengths that are not synced, each with its time.
        self.sizes = [(0, 0)]

    def _page(self, number: int) -> bytes:
        content = bytes(self.durable[number * PAGE : (number + 1) * PAGE])
        return content + _ZEROS[len(content) :]

    def write(self, now: int, offset: int, data: bytes) -> None:
        end = offset + len(data)
        for number in range(offset // PAGE, (end + PAGE - 1) // PAGE):
            start = number * PAGE
            versions = self.pending.setdefault(number, [(0, self._page(number))])
            page = bytearray(versions[-1][1])
            low, high = max(offset, start), min(end, start + PAGE)
            page[low - start : high - start] = data[low - offset : high - offset]
            versions.append((now, bytes(page)))
        if end > self.sizes[-1][1]:
            self.sizes.append((now, end))

    def truncate(self, now: int, size: int) -> None:
        old_size = self.sizes[-1][1]
        if size < old_size:
            self.write(now, size, bytes(old_size - size))
        if size != old_size:
            self.sizes.append((now, size))

    def settle(self, since: int) -> None:
        """A sync that began at that time has ended."""
        self.sizes = _newest_before(self.sizes, since)
        for number in list(self.pending):
            self._settle_page(number, since)

    def settle_range(self, now: int, offset: int, length: int) -> None:
        """An O_DSYNC write has ended; the length is durable too."""
        self.sizes = self.sizes[-1:]
        for number in range(offset // PAGE, (offset + length + PAGE - 1) // PAGE):
            self._settle_page(number, now)

    def _settle_page(self, number: int, since: int) -> None:
        newest = _newest_before(self.pending.get(number, []), since)
        if not newest:
            return
        start = number * PAGE
        if len(self.durable) < start + PAGE:
            self.durable += bytes(start + PAGE - len(self.durable))
        self.durable[start : start + PAGE] = newest[0][1]
        self.pending[number] = newest
        if len(newest) == 1:
            del self.pending[number]

    def image(self, pick: Pick, size: int) -> bytearray:
        content = bytearray(self.durable[:size])
        content += bytes(size - len(content))
        for number, versions in self.pending.items():
            start = number * PAGE
            if start < size:
                chosen = pick(number, versions)[: size - start]
                content[start : start + len(chosen)] = chosen
        return content


def is_lock(path: str) -> bool:
    """LMDB's reader table: written through a map, and created again after a restart."""
    return path.endswith(("lock.mdb", ".mdb-lock"))


class Naming(NamedTuple):
    what: str
    name: str
    new_name: str = ""
    file: File | None = None


T = TypeVar("T")


def _newest_before(versions: list[tuple[int, T]], since: int) -> list[tuple[int, T]]:
    """Drops versions older than a sync that began at that time."""
    durable = max((at for at, (time, _) in enumerate(versions) if time <= since), default=0)
    return versions[durable:]


class Disk:
    """Applies all events in order; models what a power cut may leave."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.now = 0
        self.files: dict[str, File] = {}
        self._handles: dict[int, str] = {}
        self._syncs: dict[int, int] = {}
        #: Changes of names that are not synced.
        self._names: list[Naming] = []
        self._durable_names: dict[str, File | None] = {}
        #: Start time of the newest completed sync of the store.
        self.synced_until = 0

    def apply(self, event: Event) -> None:
        self.now += 1
        path = self._handles.get(event.file, "")
        match event.kind:
            case "O":
                self._open(event)
            case "W" if path in self.files:
                self.files[path].write(self.now, event.offset, event.data)
            case "w" if path in self.files:
                self.files[path].settle_range(self.now, event.offset, len(event.data))
            case "T" if path in self.files:
                self.files[path].truncate(self.now, event.offset)
            case "S":
                self._begin_sync(event.file, path)
            case "s":
                self._end_sync(event.file, path)
            case "D":
                name = event.data.rstrip(b"\0").decode()
                self._names.append(Naming("make", name))
            case "R":
                old, _, new = event.data.decode().partition("\0")
                self.files[new] = self.files.pop(old)
                self._names.append(Naming("rename", old, new, self.files[new]))
            case "U":
                name = event.data.rstrip(b"\0").decode()
                self.files.pop(name, None)
                self._names.append(Naming("remove", name))
            case "X":
                assert is_lock(path), f"{path} is written through a map"
            case "M" | "W" | "w" | "T":
                pass
            case other:
                raise AssertionError(f"an event of kind {other}")

    def _open(self, event: Event) -> None:
        path = event.data.decode()
        self._handles[event.file] = path
        if event.offset & CREATED:
            self.files[path] = File()
            self._names.append(Naming("create", path, "", self.files[path]))
        elif event.offset & TRUNCATED:
            self.files[path].truncate(self.now, 0)

    def _begin_sync(self, handle: int, path: str) -> None:
        self._syncs[handle] = self.now if path in self.files else len(self._names)

    def _end_sync(self, handle: int, path: str) -> None:
        since = self._syncs.pop(handle)
        if path in self.files:
            self.files[path].settle(since)
            if path.endswith("data.mdb"):
                self.synced_until = max(self.synced_until, since)
            return
        reached, later = self._names[:since], self._names[since:]
        here = [name for name in reached if os.path.dirname(name.name) == path]
        self._durable_names = self._after(here)
        self._names = [name for name in reached if name not in here] + later

    def _after(self, names: Iterable[Naming]) -> dict[str, File | None]:
        found = dict(self._durable_names)
        for naming in names:
            if naming.what in {"rename", "remove"}:
                found.pop(naming.name, None)
            if naming.what != "remove":
                found[naming.new_name or naming.name] = naming.file
        return found

    def cut(self, folder: Path, chance: random.Random) -> str:
        """Writes what is left to `folder`; returns the style in a word."""
        style, pick = _style(chance, self.now, self.synced_until)
        names = self._after(self._names[: chance.randint(0, len(self._names))])
        for path, file in sorted(names.items(), key=lambda item: item[0]):
            place = folder / os.path.relpath(path, self.root)
            if file is None:
                place.mkdir(parents=True, exist_ok=True)
            elif place.parent.is_dir() and not is_lock(path):
                size = (file.sizes[-1] if chance.random() < 0.7 else chance.choice(file.sizes))[1]
                place.write_bytes(file.image(pick, size))
        return style


def _style(chance: random.Random, now: int, synced_until: int) -> tuple[str, Pick]:
    """Uniform chance would seldom lose exactly one page, or all but the newest root."""

    def newest(versions: list[Version]) -> bytes:
        return versions[-1][1]

    def some(versions: list[Version]) -> bytes:
        return versions[-1][1] if chance.random() < 0.5 else chance.choice(versions)[1]

    name = chance.choice(STYLES)
    share = chance.choice([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    until = chance.randint(synced_until, now)

    def pick(number: int, versions: list[Version]) -> bytes:
        oldest = versions[0][1]
        if name == "each":
            return some(versions) if chance.random() < share else oldest
        if name == "torn":
            if chance.random() < share:
                return some(versions)
            sectors = [range(start, start + SECTOR) for start in range(0, PAGE, SECTOR)]
            return b"".join(
                chance.choice(versions)[1][sector.start : sector.stop] for sector in sectors
            )
        if name == "in order":
            return _newest_before(versions, until)[0][1]
        if name == "roots":
            return newest(versions) if number < 2 or chance.random() > share else oldest
        if name == "one":
            return oldest if chance.random() < 0.03 else newest(versions)
        return newest(versions) if name == "all" else oldest

    return f"{name} {share}" if name in {"each", "torn", "roots"} else name, pick


def with_ends_of_synced_writes(events: Iterable[Event]) -> list[Event]:
    """An O_DSYNC write is two events: written, and durable."""
    synced: set[int] = set()
    found = []
    for event in events:
        found.append(event)
        if event.kind == "O" and event.offset & SYNCED:
            synced.add(event.file)
        elif event.kind == "W" and event.file in synced:
            found.append(Event("w", event.file, event.offset, event.data))
    return found
