"""The ready file: exists while the broker is ready."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from interfaces.main.started import Started


def write_ready_file(path: Path, started: Started) -> None:
    """Atomic: a script may read the file as soon as it exists."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(ready_facts(started), indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)


def remove_ready_file(path: Path) -> None:
    path.unlink(missing_ok=True)


def ready_facts(started: Started) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "version": started.version,
        "cluster_id": started.cluster_id,
        "bootstrap_servers": started.listeners[0].bootstrap,
        "listeners": [
            {
                "name": listener.address.name,
                "bind": listener.address.host,
                "host": listener.host,
                "port": listener.port,
                "advertised": listener.advertised,
            }
            for listener in started.listeners
        ],
        "raw": started.raw,
        "admin": started.admin,
        "admin_urls": started.admin_urls,
        "data": str(started.data_folder) if started.data_folder else None,
        "storage": started.storage,
    }
