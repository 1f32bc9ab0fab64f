"""A simulated disk that loses power at any moment; a seed draws what is left.

Guaranteed: writes to a file before a sync began are durable when the sync ends, and a write through
an O_DSYNC descriptor when it returns. Of later writes, each page of 4 KiB may have any version it
had, or be torn: each sector of 512 bytes in another version, in any order of writes. A file that
grew may have its old or new length, with zeros for missing pages. A file's name is durable once its
folder, or the whole file system, was synced; before that, changes of names arrive in their order,
as in the journal of a file system, and independently of what is in the files.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict, deque
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


class Folder:
    """Which names it has is a matter of the disk: as of now, and durably."""


Node = File | Folder
Names = dict[tuple[Folder, str], Node]


class Change(NamedTuple):
    """Names that come or go together, None: one that goes."""

    time: int
    names: tuple[tuple[Folder, str, Node | None], ...]

    def apply(self, names: Names) -> None:
        for folder, name, node in self.names:
            if node is None:
                names.pop((folder, name), None)
            else:
                names[folder, name] = node


T = TypeVar("T")


def _newest_before(versions: list[tuple[int, T]], since: int) -> list[tuple[int, T]]:
    """Drops versions older than a sync that began at that time."""
    durable = max((at for at, (time, _) in enumerate(versions) if time <= since), default=0)
    return versions[durable:]


class Disk:
    """Applies all events in order; models what a power cut may leave."""

    def __init__(self, root: str) -> None:
        self._root, self._top = root, Folder()
        self.now = 0
        self._files: list[File] = []
        self._names: Names = {}
        self._durable_names: Names = {}
        #: Changes of names that are not synced.
        self._changes: list[Change] = []
        #: By the number of an opening: the path at that time as well.
        self._handles: dict[int, tuple[str, Node]] = {}
        #: When those began that have not ended: two threads may sync one file.
        self._syncs: dict[int, deque[int]] = defaultdict(deque)
        #: Start time of the newest completed sync of the store.
        self.synced_until = 0

    def apply(self, event: Event) -> None:
        self.now += 1
        path, node = self._handles.get(event.file, ("", None))
        file = node if isinstance(node, File) else None
        match event.kind:
            case "O":
                self._open(event)
            case "W" if file is not None:
                file.write(self.now, event.offset, event.data)
            case "w" if file is not None:
                file.settle_range(self.now, event.offset, len(event.data))
            case "T" if file is not None:
                file.truncate(self.now, event.offset)
            case "P":
                file = self._file(event.data.decode())
                file.truncate(self.now, event.offset)
            case "S" | "F":
                self._syncs[event.file].append(self.now)
            case "s":
                self._end_sync(self._syncs[event.file].popleft(), path, node)
            case "f":
                self._end_sync_of_all(self._syncs[event.file].popleft())
            case "D":
                self._change((*self._place(event.data.rstrip(b"\0").decode()), Folder()))
            case "R":
                old, _, new = event.data.decode().partition("\0")
                self._rename(old, new)
            case "L":
                old, _, new = event.data.decode().partition("\0")
                self._change((*self._place(new), self._file(old)))
            case "U":
                self._change((*self._place(event.data.rstrip(b"\0").decode()), None))
            case "X":
                assert is_lock(path), f"{path} is written through a map"
            case "M" | "W" | "w" | "T":
                pass
            case other:
                raise AssertionError(f"an event of kind {other}")

    # ---- names

    def _place(self, path: str) -> tuple[Folder, str]:
        """The folder of a path, and its name there."""
        *folders, name = os.path.relpath(path, self._root).split("/")
        folder = self._top
        for one in folders:
            found = self._names[folder, one]
            assert isinstance(found, Folder)
            folder = found
        return folder, name

    def _node(self, path: str) -> Node | None:
        return self._top if path == self._root else self._names.get(self._place(path))

    def _file(self, path: str) -> File:
        found = self._node(path)
        assert isinstance(found, File), path
        return found

    def _change(self, *names: tuple[Folder, str, Node | None]) -> None:
        change = Change(self.now, names)
        change.apply(self._names)
        self._changes.append(change)

    def _rename(self, old: str, new: str) -> None:
        self._change((*self._place(old), None), (*self._place(new), self._node(old)))

    def _open(self, event: Event) -> None:
        path = event.data.decode()
        node = self._node(path)
        if event.offset & CREATED:
            node = File()
            self._files.append(node)
            self._change((*self._place(path), node))
        elif event.offset & TRUNCATED:
            assert isinstance(node, File)
            node.truncate(self.now, 0)
        if node is not None:
            self._handles[event.file] = path, node

    # ---- syncs

    def _end_sync(self, since: int, path: str, node: Node | None) -> None:
        """Of a file, or of the names in a folder."""
        if isinstance(node, File):
            node.settle(since)
            if path.endswith("data.mdb"):
                self.synced_until = max(self.synced_until, since)
            return
        self._settle_names(since, node)

    def _end_sync_of_all(self, since: int) -> None:
        for file in self._files:
            file.settle(since)
        self._settle_names(since, None)
        self.synced_until = max(self.synced_until, since)

    def _settle_names(self, since: int, folder: Folder | None) -> None:
        """None: in all folders."""
        left = []
        for change in self._changes:
            is_here = folder is None or any(one is folder for one, _, _ in change.names)
            if change.time <= since and is_here:
                change.apply(self._durable_names)
            else:
                left.append(change)
        self._changes = left

    # ---- the power cut

    def cut(self, folder: Path, chance: random.Random) -> str:
        """Writes what is left to `folder`; returns the style in a word."""
        style, pick_for = _style(chance, self.now, self.synced_until)
        names = dict(self._durable_names)
        for change in self._changes[: chance.randint(0, len(self._changes))]:
            change.apply(names)
        below: dict[Folder, list[tuple[str, Node]]] = {}
        for (place, name), node in names.items():
            below.setdefault(place, []).append((name, node))

        def write(place: Folder, to: Path) -> None:
            for name, node in sorted(below.get(place, ()), key=lambda one: one[0]):
                if isinstance(node, Folder):
                    (to / name).mkdir(exist_ok=True)
                    write(node, to / name)
                elif not is_lock(name):
                    sizes = node.sizes
                    size = (sizes[-1] if chance.random() < 0.7 else chance.choice(sizes))[1]
                    (to / name).write_bytes(node.image(pick_for(name), size))

        folder.mkdir(exist_ok=True)
        write(self._top, folder)
        return style


def _style(chance: random.Random, now: int, synced_until: int) -> tuple[str, Callable[[str], Pick]]:
    """One for all files, or another one for each."""
    style, pick = _style_of_a_file(chance, now, synced_until)
    if chance.random() < 0.6:
        return style, lambda name: pick
    return (
        f"by file, {style}",
        lambda name: pick if name == "data.mdb" else _style_of_a_file(chance, now, synced_until)[1],
    )


def _style_of_a_file(chance: random.Random, now: int, synced_until: int) -> tuple[str, Pick]:
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
