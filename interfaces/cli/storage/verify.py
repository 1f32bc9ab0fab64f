"""`ottla storage verify`: everything that can be held against something else."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset
from infrastructure.opening import Contents
from infrastructure.storage.engine import Storage
from interfaces.cli.output import show
from interfaces.cli.progress import Progress
from interfaces.cli.storage.check_log import Checked, check_log
from interfaces.cli.storage.info import offsets_of
from interfaces.cli.storage.opened import in_words, opened, places, stored_at

OK, NOTE, PROBLEM = "ok", "note", "problem"


class Said(NamedTuple):
    level: str
    where: str
    what: str


def verify(parsed: argparse.Namespace) -> int:
    said = list(_verify(parsed.store))
    rows = [one._asdict() for one in said]
    show(
        rows,
        parsed.output,
        "\n".join(f"{level:<7}  {where}: {what}" for level, where, what in said),
    )
    return 1 if any(one.level == PROBLEM for one in said) else 0


def _verify(store: str) -> Iterator[Said]:
    folder = stored_at(store)
    with in_words():
        power = folder.last_end()
        # LMDB trusts its file: what is wrong with it has to be known before it is opened.
        wrong = folder.check_pages()
    if wrong is not None:
        yield Said(PROBLEM, "pages", f"{wrong}; what lies in them is not looked at")
        return
    yield Said(NOTE, "power", power)
    yield Said(OK, "pages", "every page is where it belongs")
    with opened(store) as (storage, found):
        ends: dict[tuple[str, int], Checked] = {}
        yield from _check_partitions(storage, found, ends)
        yield from _check_rows(found)
        yield from _check_offsets(found, ends)


def _check_partitions(
    storage: Storage, found: Contents, ends: dict[tuple[str, int], Checked]
) -> Iterator[Said]:
    known = places(found)
    doomed = found.topics.doomed_partitions()
    owned = {place.partition_id for place in known}
    if twice := len(known) - len(owned):
        yield Said(PROBLEM, "topics", f"{twice} partitions of the store belong to two topics")
    size_bytes = storage.info.live_bytes
    with Progress("verify", size_bytes) as progress:
        for place in known:
            seen, problems = check_log(storage.log, place, found, progress.step)
            ends[place.topic, place.number] = seen
            for problem in problems:
                yield Said(PROBLEM, str(place), problem)
    batches = sum(seen.batches for seen in ends.values())
    records = sum(seen.records for seen in ends.values())
    yield Said(
        OK,
        "batches",
        f"{len(known)} partitions, {batches:,} batches, {records:,} records looked at",
    )
    yield from _others(storage, owned, doomed)


def _others(storage: Storage, owned: set[int], doomed: list[int]) -> Iterator[Said]:
    if doomed:
        yield Said(
            NOTE, "deleted", f"{len(doomed)} partitions of deleted topics are still to be dropped"
        )
    if strays := [n for n in storage.log.partition_ids() if n not in owned and n not in doomed]:
        yield Said(PROBLEM, "strays", f"data that no topic owns: partitions {strays} of the store")


def _check_rows(found: Contents) -> Iterator[Said]:
    for name, load in (
        ("configs", found.configs.load),
        ("groups", lambda: list(found.groups.load())),
    ):
        try:
            count = len(load())
        except StorageFailed as damage:
            yield Said(PROBLEM, name, str(damage))
        else:
            yield Said(OK, name, f"{count} rows can be read")


def _check_offsets(found: Contents, ends: dict[tuple[str, int], Checked]) -> Iterator[Said]:
    if found.offsets_place is not None:
        yield Said(NOTE, "offsets", f"they are in {found.offsets_place}, and not looked at")
        return
    try:
        rows = offsets_of(found)
    except StorageFailed as damage:
        yield Said(PROBLEM, "offsets", str(damage))
        return
    ids = {topic.name: topic.topic_id for topic in found.topics.load()}
    for group, topic, number, committed in rows:
        what = _about(committed, ids.get(topic), ends.get((topic, number)))
        if what is not None:
            yield Said(NOTE, "offsets", f"group {group} at {topic}-{number}: {what}")
    yield Said(OK, "offsets", f"{len(rows)} committed offsets can be read")


def _about(committed: CommittedOffset, topic_id: bytes | None, seen: Checked | None) -> str | None:
    """A client may commit any offset, so what is odd need not be wrong."""
    if topic_id is None or seen is None:
        return "the topic or partition is not there any more"
    if any(committed.topic_id) and committed.topic_id != topic_id:
        return "it is of an earlier topic of that name, and is dropped at the next start"
    if committed.offset > seen.end_offset:
        return (
            f"{committed.offset} lies behind the end, {seen.end_offset}: a power cut has taken "
            "what was read, or the client has committed what never was"
        )
    return None
