"""`ottla serve --storage files:///log/dir`: a log folder of a stopped Kafka 4, served as it is.

The logs stay where they are; the store gets rows that say what they have, and the groups, offsets,
transactions, users, ACLs, quotas and configs of the metadata, in one commit. Batches are not read:
Kafka has written down all that is needed when it stopped cleanly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, cast

from application.ports.log_store import LogName
from domain.configs.broker import BrokerConfig
from domain.configs.topic import resolve_topic_config
from domain.partitions import adopted
from domain.partitions.log_end import LogEnd
from domain.partitions.partition import Partition
from domain.partitions.transactions import NONE_ABORTED, OpenTransaction
from infrastructure.kafka_folder.clean_stop import (
    begin_taking,
    end_taking,
    metadata_bytes,
    was_clean,
)
from infrastructure.kafka_folder.files import is_log_folder
from infrastructure.kafka_folder.folder import KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.opening import Contents, contents
from infrastructure.storage.engine import Storage
from infrastructure.storage.errors import StorageForeign, StorageUnusable
from infrastructure.storage.files.stopped_log import StoppedLog, TakesLogs
from interfaces.cli.kafka_import.checking import check_end, note_unfinished
from interfaces.cli.kafka_import.copying import Ids
from interfaces.cli.kafka_import.plan import PartitionPlan, Plan, TopicPlan
from interfaces.cli.kafka_import.planning import make_plan
from interfaces.cli.kafka_import.report import skipped_lines
from interfaces.cli.kafka_import.storing import store_rows

Open = Callable[[], Storage]


class Taken(NamedTuple):
    topics: int
    partitions: int
    notes: list[str]

    def __str__(self) -> str:
        lines = [f"a log folder of Kafka: {self.topics} topics, {self.partitions} partitions"]
        return "\n".join((*lines, *(f"  {note}" for note in self.notes)))


def check_no_part_of_kafkas(path: Path) -> None:
    """Where a new store is about to be made. Raises StorageForeign."""
    if not path.is_dir():
        return
    for meant in (path.parent, *sorted(path.iterdir())):
        if is_log_folder(meant):
            raise StorageForeign(f"{path} is not the log folder of Kafka: {meant} is")


def take_over(path: Path, open_store: Open, skip_unsupported: bool, read_only: bool) -> Taken:
    """Raises StorageUnusable, before it writes."""
    with _in_words():
        with KafkaFolder(path) as folder:
            plan = make_plan(folder)
            stopped = dict(_stopped(folder, plan))
            if plan.skipped and not skip_unsupported:
                raise StorageForeign(
                    f"{path} has what cannot be served; --skip-unsupported serves the rest:\n"
                    + "\n".join(skipped_lines(plan))
                )
            if not read_only:
                _check_writable(stopped)
        storage = open_store()
        with closing(storage.commit):
            if not read_only:
                if not was_clean(path):  # asked before the lock
                    raise FolderRefused(f"{path}: Kafka was started meanwhile")
                begin_taking(path)
            _store(storage, plan, stopped, metadata_bytes(path))
        if not read_only:
            end_taking(path)
    not_served = [f"not served: {one.strip()}" for one in skipped_lines(plan)]
    return Taken(len(plan.topics), len(stopped), [*not_served, *plan.notes])


def check_unchanged(path: Path, found: Contents) -> None:
    """Raises StorageForeign if Kafka was started on the folder since the store took it over."""
    before = found.kafka_folder.metadata_bytes()
    if before is not None and before != metadata_bytes(path):
        raise StorageForeign(
            f"Kafka was started on {path} after Ottla had served it, and may have changed the "
            f"logs. `ottla storage copy files://{path} TARGET` copies what Ottla has of them"
        )


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except FolderRefused as refusal:
        raise StorageUnusable(str(refusal)) from None


def _stopped(folder: KafkaFolder, plan: Plan) -> Iterator[tuple[PartitionPlan, StoppedLog]]:
    for partition in plan.partitions():
        stopped = StoppedLog(partition.log)
        check_end(folder, partition, stopped.end_offset)
        note_unfinished(plan, partition, stopped.producers)
        yield partition, stopped


def _check_writable(stopped: Iterable[PartitionPlan]) -> None:
    """Raises FolderRefused."""
    for partition in stopped:
        for segment in partition.log.segments:
            if not os.access(segment.path, os.R_OK | os.W_OK):
                raise FolderRefused(f"{segment.path} cannot be written by this user")


def _store(
    storage: Storage, plan: Plan, stopped: dict[PartitionPlan, StoppedLog], metadata: int
) -> None:
    found = contents(storage)
    reserved = found.topics.reserve_partition_ids(len(stopped))
    ids: Ids = dict(zip(stopped, reserved, strict=True))
    for topic in plan.topics:
        for partition in topic.partitions:
            _take_log(storage, found, topic, partition, ids[partition], stopped[partition])
    found.kafka_folder.save(metadata)
    store_rows(storage, found, plan, ids)


def _take_log(
    storage: Storage,
    found: Contents,
    topic: TopicPlan,
    plan: PartitionPlan,
    partition_id: int,
    stopped: StoppedLog,
) -> None:
    name = LogName(topic.name, plan.number, topic.topic_id)
    cast(TakesLogs, storage.log).adopt(partition_id, name, stopped)
    config = resolve_topic_config(topic.configs, BrokerConfig())
    partition = Partition(partition_id, topic.name, plan.number, config)
    timestamp, its_offset = stopped.times[-1] if stopped.times else (-1, -1)
    end = LogEnd(
        stopped.end_offset, timestamp, its_offset, 0, stopped.start_offset, stopped.size_bytes
    )
    last_aborted = max((one.last_offset for one in stopped.aborted), default=NONE_ABORTED)
    opened = [
        OpenTransaction(one.producer_id, one.first_offset)
        for one in stopped.producers
        if one.first_offset >= 0
    ]
    states = (one.state() for one in stopped.producers)
    epochs = plan.log.leader_epochs()
    adopted.as_it_is(partition, end, epochs, stopped.segment, states, opened, last_aborted)
    cleaned = plan.cleaned_offset
    adopted.end(partition, stopped.end_offset, cleaned, stopped.size_below(cleaned))
    found.partitions.snapshot(partition)
    for aborted in stopped.aborted:
        found.transaction_index.add(partition_id, aborted)
