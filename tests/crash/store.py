"""Checks the store after its broker died: LMDB's tree is intact, and every row has an owner."""

from __future__ import annotations

from pathlib import Path
from struct import Struct

from lmdb.verify import verify

from infrastructure.opening import open_storage
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from tests.crash.ledger import Broken

_PARTITION_ID = Struct(">I")


def check_store(folder: Path, engine: str = "lmdb") -> None:
    problems = verify(str(folder / "data.mdb"))  # type: ignore[no-untyped-call]
    if problems:
        raise Broken(f"LMDB's file is damaged: {problems[0]}")
    check_rows(f"{engine}://{folder}")


def check_rows(url: str) -> None:
    storage = open_storage(url, "os")
    try:
        topics = StoredTopicRepository(storage.log, storage.state)
        owned = {one for topic in topics.load() for one in topic.partition_ids}
        doomed = set(topics.doomed_partitions())
        snapshots = {_PARTITION_ID.unpack(key)[0] for key, _ in storage.state.scan("partitions")}
        if owned & doomed:
            raise Broken(f"partitions {owned & doomed} are a topic's and to be dropped")
        trimmed = {_PARTITION_ID.unpack(key)[0] for key, _ in storage.state.scan("trimming")}
        trimmed |= {_PARTITION_ID.unpack_from(key)[0] for key, _ in storage.state.scan("aborted")}
        trimmed |= {_PARTITION_ID.unpack_from(key)[0] for key, _ in storage.state.scan("positions")}
        if strays := (snapshots | trimmed | set(storage.log.partition_ids())) - owned - doomed:
            raise Broken(f"partitions {strays} belong to no topic")
    finally:
        storage.commit.close()
