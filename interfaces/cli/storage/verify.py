"""`ottla storage verify`: checks the data of a store by checksums, indexes and snapshots."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from application.ports.log_store import LogName
from domain.configs.resource import ResourceKind
from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset
from infrastructure.opening import Contents
from infrastructure.storage.engine import Storage
from interfaces.cli.output import show
from interfaces.cli.progress import Progress
from interfaces.cli.storage.check_log import Checked, check_log
from interfaces.cli.storage.info import offsets_of
from interfaces.cli.storage.opened import Place, in_words, opened, places, stored_at

OK, NOTE, PROBLEM = "ok", "note", "problem"


class Finding(NamedTuple):
    level: str
    where: str
    what: str


def verify(parsed: argparse.Namespace) -> int:
    found = list(_verify(parsed.store))
    rows = [one._asdict() for one in found]
    table = "\n".join(f"{level:<7}  {where}: {what}" for level, where, what in found)
    show(rows, parsed.output, table)
    return 1 if any(one.level == PROBLEM for one in found) else 0


def _verify(store: str) -> Iterator[Finding]:
    closed = stored_at(store)
    with in_words():
        power = closed.last_end()
        # Before the file is opened: LMDB trusts its pages.
        damage = closed.check_pages()
        level = OK if closed.has_checked_pages else NOTE
        pages = Finding(level, "pages", closed.pages)
    if damage is not None:
        yield Finding(PROBLEM, "pages", f"{damage}; the rest is not checked")
        return
    yield Finding(NOTE, "power", power)
    yield pages
    with opened(store) as (storage, found):
        logs: dict[tuple[str, int], Checked] = {}
        yield from _check_partitions(storage, found, logs)
        yield from _check_rows(found)
        yield from _check_offsets(found, logs)
        yield from _check_objects(storage)


def _check_partitions(
    storage: Storage, found: Contents, logs: dict[tuple[str, int], Checked]
) -> Iterator[Finding]:
    known = places(found)
    doomed = found.topics.doomed_partitions()
    owned = {place.partition_id for place in known}
    if twice := len(known) - len(owned):
        yield Finding(PROBLEM, "topics", f"{twice} partition ids belong to two topics")
    damaged = 0
    with Progress("verify", storage.info.live_bytes) as progress:
        for place in known:
            checked, problems = check_log(storage.log, place, found, progress.step)
            logs[place.topic, place.number] = checked
            for problem in problems:
                damaged += 1
                yield Finding(PROBLEM, str(place), problem)
            for one in _check_files(storage, place):
                damaged += one.level == PROBLEM
                yield one
    batches = sum(one.batches for one in logs.values())
    records = sum(one.records for one in logs.values())
    what = f"{len(known)} partitions, {batches:,} batches, {records:,} records"
    if damaged:
        yield Finding(PROBLEM, "batches", f"{what}, {damaged} problems")
    else:
        yield Finding(OK, "batches", what)
    if storage.check_files is not None:
        yield Finding(
            OK, "segments", f"{storage.check_files.segments:,} checked with their indexes"
        )
        for stray in storage.check_files.strays():
            yield Finding(NOTE, "folders", stray.what)
    if doomed:
        what = f"{len(doomed)} partitions of deleted topics are not removed yet"
        yield Finding(NOTE, "deleted", what)
    try:
        strays = [n for n in storage.log.partition_ids() if n not in owned and n not in doomed]
    except StorageFailed as damage:
        yield Finding(PROBLEM, "strays", str(damage))
        return
    if strays:
        yield Finding(PROBLEM, "strays", f"data without a topic: partition ids {strays}")


def _check_files(storage: Storage, place: Place) -> Iterator[Finding]:
    if storage.check_files is not None:
        name = LogName(place.topic, place.number, place.topic_id)
        for one in storage.check_files.log(place.partition_id, name):
            yield Finding(PROBLEM if one.is_problem else NOTE, str(place), one.what)


def _check_rows(found: Contents) -> Iterator[Finding]:
    def configs() -> str:
        kinds = [resource.kind for resource in found.configs.load()]
        brokers, groups = kinds.count(ResourceKind.BROKER), kinds.count(ResourceKind.GROUP)
        return f"{brokers} broker configs, {groups} group configs"

    def groups() -> str:
        return f"{len({change.group_id for change in found.groups.load()})} groups"

    for where, load in (("configs", configs), ("groups", groups)):
        try:
            yield Finding(OK, where, load())
        except StorageFailed as damage:
            yield Finding(PROBLEM, where, str(damage))


def _check_offsets(found: Contents, logs: dict[tuple[str, int], Checked]) -> Iterator[Finding]:
    if found.offsets_place is not None:
        yield Finding(NOTE, "offsets", f"stored in {found.offsets_place}, not checked")
        return
    try:
        rows = offsets_of(found)
    except StorageFailed as damage:
        yield Finding(PROBLEM, "offsets", str(damage))
        return
    ids = {topic.name: topic.topic_id for topic in found.topics.load()}
    for group, topic, number, committed in rows:
        what = _oddity(committed, ids.get(topic), logs.get((topic, number)))
        if what is not None:
            yield Finding(NOTE, "offsets", f"group {group}, {topic}-{number}: {what}")
    yield Finding(OK, "offsets", f"{len(rows)} committed offsets")


def _check_objects(storage: Storage) -> Iterator[Finding]:
    """What is in them was read with the logs, up to what cannot be read."""
    if storage.objects is None:
        return
    sizes = storage.objects.sizes()
    try:
        missing, strays = storage.objects.missing(), list(storage.objects.strays())
    except StorageFailed as failure:
        yield Finding(PROBLEM, "objects", str(failure))
        return
    for name in missing:
        yield Finding(PROBLEM, "objects", f"{name} is missing")
    for name, size_bytes in strays:
        what = f"{name} ({size_bytes:,} bytes) is not known to the store"
        yield Finding(NOTE, "objects", what)
    what = f"{sizes.in_objects:,} bytes in {storage.objects.shown}, {len(strays)} unknown objects"
    what += f", {len(missing)} missing ones" if missing else ""
    yield Finding(PROBLEM if missing else OK, "objects", what)


def _oddity(
    committed: CommittedOffset, topic_id: bytes | None, checked: Checked | None
) -> str | None:
    """Not a problem: clients may commit any offset."""
    if topic_id is None or checked is None:
        return "the topic or partition does not exist"
    if any(committed.topic_id) and committed.topic_id != topic_id:
        return "it belongs to a deleted topic of that name, and is removed at the next start"
    if committed.offset > checked.end_offset:
        return (
            f"committed offset {committed.offset} is beyond the log end offset "
            f"{checked.end_offset}: records were lost by a power cut, or the client committed an "
            "offset that never was"
        )
    return None
