"""The brokers under comparison: started, warm, and with room on the disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.brokers import Broker, Contender
from tests.bench.progress import say

#: With more data than this, or less free space, all brokers restart on empty folders.
MOST_DATA_BYTES = 16 << 30
LEAST_FREE_BYTES = 6 << 30


class Stage:
    def __init__(
        self,
        contenders: Sequence[Contender],
        cache: Path,
        warm_up: Callable[[Contender, Broker], None],
        settle: Callable[[], None] = os.sync,
    ) -> None:
        #: Syncs the page cache, so that one run does not write the data of another.
        self.settle = settle
        self.contenders = contenders
        self.names = [contender.name for contender in contenders]
        self._cache = cache
        self._warm_up = warm_up
        self._brokers: dict[str, Broker] = {}

    def broker(self, name: str) -> Broker:
        if name not in self._brokers:
            [contender] = [one for one in self.contenders if one.name == name]
            folder = self._folder(contender)
            contender.prepare(folder)
            say(f"starting {name}")
            broker = self._brokers[name] = contender.start(folder)
            self._warm_up(contender, broker)
            self.settle()
        return self._brokers[name]

    def lost(self, name: str) -> str | None:
        """Returns the end of a dead broker's output; a new one starts for the next load."""
        broker = self._brokers.get(name)
        if broker is None or broker.alive():
            return None
        del self._brokers[name]
        return broker.output() or "(nothing)"

    def make_room(self) -> None:
        used = sum(disk_bytes(self._folder(contender)) for contender in self.contenders)
        if used > MOST_DATA_BYTES or shutil.disk_usage(self._cache).free < LEAST_FREE_BYTES:
            self.close()
        if shutil.disk_usage(self._cache).free < LEAST_FREE_BYTES:
            raise SystemExit(f"bench: {self._cache} needs {LEAST_FREE_BYTES >> 30} GiB free")

    def close(self) -> None:
        for broker in self._brokers.values():
            broker.stop()
        self._brokers.clear()
        for contender in self.contenders:
            shutil.rmtree(self._folder(contender), ignore_errors=True)

    def _folder(self, contender: Contender) -> Path:
        return self._cache / contender.name.replace(" ", "-")


def disk_bytes(folder: Path) -> int:
    if not folder.exists():
        return 0
    done = subprocess.run(["du", "-sB1", str(folder)], capture_output=True, text=True)
    return int(done.stdout.split()[0]) if done.stdout else 0
