"""`ottla import kafka DIR`: the topics, groups, users and rights of a stopped Apache Kafka 4.

    plan      reads metadata, groups and transactions of the folder
    check     reads all its batches
    copy      appends them to partitions of the store that no topic has yet
    verify    reads them again, from the store
    rows      one commit: topics, groups, offsets, transactions, users, ACLs, quotas, configs

Nothing is written before the check is done, and nothing is visible before the last commit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from infrastructure.kafka_folder.folder import KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused, NotStopped
from infrastructure.opening import contents, folder_of, open_storage
from infrastructure.storage.engine import StoreFolder
from interfaces.cli.failures import CommandFailed
from interfaces.cli.kafka_import.checking import check_logs
from interfaces.cli.kafka_import.copying import Copying
from interfaces.cli.kafka_import.plan import Plan
from interfaces.cli.kafka_import.planning import make_plan
from interfaces.cli.kafka_import.report import show_plan, skipped_lines
from interfaces.cli.kafka_import.storing import check_conflicts, store_rows
from interfaces.cli.kafka_import.verifying import Differs, verify_logs, verify_rows
from interfaces.cli.output import note
from interfaces.cli.progress import Progress
from interfaces.cli.storage.opened import in_words


def import_kafka(parsed: argparse.Namespace) -> int:
    with in_words(), _folder(parsed.folder, parsed.cut_tails) as folder:
        store = folder_of(parsed.broker_store)
        if store.path.resolve() == folder.path.resolve():
            raise CommandFailed(f"{store.path} is the folder of Kafka itself: choose a new one")
        plan = _planned(folder, store)
        if parsed.dry_run:
            show_plan(plan, parsed.output)
            return 0
        if plan.skipped and not parsed.skip_unsupported:
            for line in skipped_lines(plan):
                note(line.strip())
            raise CommandFailed(
                f"cannot import everything ({len(plan.skipped)}, see above); "
                "--skip-unsupported imports the rest"
            )
        _write(folder, plan, store)
        show_plan(plan, parsed.output)
    note(
        f"imported into {store.path}: counts and checksums of all batches are those of "
        f"{folder.path}"
    )
    return 0


@contextmanager
def _folder(path: str, cut_tails: bool) -> Iterator[KafkaFolder]:
    try:
        with KafkaFolder(Path(path), cut_tails) as folder:
            yield folder
    except NotStopped as refusal:
        raise CommandFailed(f"{refusal}, or give --cut-tails") from None
    except FolderRefused as refusal:
        raise CommandFailed(str(refusal)) from None


def _planned(folder: KafkaFolder, store: StoreFolder) -> Plan:
    plan = make_plan(folder)
    if store.has_store():
        storage = open_storage(store.url, read_only=True)
        with closing(storage.commit):
            check_conflicts(contents(storage), plan)
    total_bytes = sum(partition.log.size_bytes for partition in plan.partitions())
    with Progress("check", total_bytes) as progress:
        check_logs(folder, plan, progress.step)
    return plan


def _write(folder: KafkaFolder, plan: Plan, store: StoreFolder) -> None:
    storage = open_storage(store.url)
    with closing(storage.commit):
        found = contents(storage)
        check_conflicts(found, plan)  # a broker may have run since
        copying = Copying(storage, found, plan)
        copying.begin()
        with Progress("import", plan.size_bytes) as progress:
            copying.copy_all(progress.step)
        try:
            with Progress("verify", plan.size_bytes) as progress:
                verify_logs(storage, plan, copying.ids, progress.step)
        except Differs as found_one:
            copying.distrust(found_one.partition)
            raise
        folder.check_unused()
        store_rows(storage, found, plan, copying.ids)
        verify_rows(found, plan)
