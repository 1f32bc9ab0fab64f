"""What an import has stored, to compare two of them."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from infrastructure.opening import open_storage
from interfaces.cli.storage.opened import batches

_PER_STORE = {(b"store", b"id")}


def rows(store: Path) -> dict[str, Any]:
    """All rows and logs, without what differs between two stores: ids and the time of the import.

    Partition ids are those of the topics, in order.
    """
    storage = open_storage(f"lmdb://{store}", read_only=True)
    with closing(storage.commit):
        found: dict[str, Any] = {
            name: {
                key: value
                for key, value in storage.state.scan(name)
                if (name.encode(), key) not in _PER_STORE
            }
            for name in storage.state.tables()
        }
        found["logs"] = {
            number: b"".join(bytes(batch.buffer) for batch in batches(storage.log, number))
            for number in storage.log.partition_ids()
        }
    for key, value in found.get("groups", {}).items():
        group_id, name, values = json.loads(value)
        if isinstance(values, list) and len(values) == 7:
            values[4] = "since"
        found["groups"][key] = [group_id, name, values]
    return found
