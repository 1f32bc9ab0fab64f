"""SIGKILL while transactions end: the database agrees with the log, which decides."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue

from application.ports.offset_repository import OffsetRow, OffsetWrite
from domain.errors import StorageFailed
from infrastructure.opening import open_offsets, open_storage
from tests.contract.test_offset_repository_killed import commit, commit_until_killed
from tests.fakes.logs import FakeEventLog

#: A row of the log that says how many transactions were committed.
COMMITTED = ("committed", b"transactions")

#: A transaction after the other, with a plain commit behind some; prints committed ones.
COMMITTER = """
import sys
from pathlib import Path
from tests.contract.test_outbox_killed import Stores

stores = Stores(Path(sys.argv[2]))
number = stores.in_log()
while True:
    number += 1
    stores.commit_transaction(number)
    print(number, flush=True)
"""


class Stores:
    """A log and its database; commits run where the loop would run them."""

    def __init__(self, folder: Path) -> None:
        self._loop: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._waiting: list[Callable[[StorageFailed | None], None]] = []
        self.log = open_storage(f"lmdb://{folder}/store", "os")
        self.offsets = open_offsets(
            f"sqlite://{folder}/offsets.db",
            self.log,
            self._when_committed,
            "os",
            self._loop.put,
            lambda unusable: None,
            FakeEventLog(),
        )
        self.rows: list[OffsetRow] = []
        loaded: list[None] = []
        self.offsets.load(self.rows.extend, lambda: loaded.append(None))
        while not loaded:
            self._loop.get(timeout=20)()
            self._commit()

    def _when_committed(self, done: Callable[[StorageFailed | None], None]) -> None:
        self._waiting.append(done)

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        self.log.commit.commit(lambda failure: [done(failure) for done in waiting] and None)

    def in_log(self) -> int:
        return int(self.log.state.get(*COMMITTED) or b"0")

    def commit_transaction(self, number: int) -> None:
        self.log.state.put(*COMMITTED, b"%d" % number)
        self.offsets.apply_with_log(commit(number), lambda failure: None)
        others: Sequence[OffsetWrite] = [("plain", *one[1:]) for one in commit(number)]
        self.offsets.apply(others, lambda failure: None)
        self._commit()
        while not self._loop.empty():
            self._loop.get()()

    def close(self) -> None:
        self.offsets.close()
        self.log.commit.close()


def test_the_database_has_what_the_log_has_committed(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(2):
        acknowledged = commit_until_killed(COMMITTER, "", tmp_path, chance.randint(1, 200))
        stores = Stores(tmp_path)
        try:
            of_transactions = {row[3].offset for row in stores.rows if row[0] == "g"}
            assert of_transactions == {stores.in_log()}
            assert stores.in_log() in (acknowledged, acknowledged + 1)
        finally:
            stores.close()
