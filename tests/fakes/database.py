"""Database: what PostgreSQL has beside the rows and logs, as it tells brokers what it has lost.

The number of the newest commit of each broker, and the version of each shared row. `KnownContents`
and `RepeatedCommits` are those of the engine, without SQL: they decide whether a broker goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from domain.cluster.nodes import BrokerRegistration
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.postgresql.contents import NOTHING_GAINED, Contents
from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.lost_commits import LostCommits
from infrastructure.storage.postgresql.shared_rows import Gained, Row, SharedRows
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.repositories.leader_rows import LEADERS, leader_of, partition_id_of
from infrastructure.storage.repositories.scopes import MARKERS, is_shared
from tests.fakes.membership import FakeMembers

Key = tuple[str, bytes]


def changes_shared_rows(rows: Collection[Key]) -> bool:
    return any(is_shared(table) for table, _ in rows)


class Past(NamedTuple):
    data: MemoryStore
    registered: dict[int, BrokerRegistration]
    seqs: dict[int, int]
    version: int
    versions: dict[Key, int]
    marker_changes: int


class Database:
    def __init__(self, data: MemoryStore, members: FakeMembers) -> None:
        self.data = data
        self.members = members
        #: Of the newest commit of each broker.
        self.seqs: dict[int, int] = {}
        #: Of the shared rows; and in which each of them has changed, also of deleted ones.
        self.version = 0
        self.versions: dict[Key, int] = {}
        #: So many commits have requested or written markers.
        self.marker_changes = 0
        #: Rises with each promotion that loses commits.
        self.timeline = 1

    def committed(self, node_id: int, rows: Collection[Key]) -> None:
        self.seqs[node_id] = self.seqs.get(node_id, 0) + 1
        self.marker_changes += any(table == MARKERS for table, _ in rows)
        shared = [one for one in rows if is_shared(one[0])]
        if shared:
            self.version += 1
            self.versions.update(dict.fromkeys(shared, self.version))

    def changed_since(self, version: int) -> SharedRows:
        rows = [
            Row(table, key, self.data.tables.get(table, {}).get(key), changed)
            for (table, key), changed in self.versions.items()
            if changed > version
        ]
        return SharedRows(version, self.version, rows)

    def past(self) -> Past:
        data = MemoryStore()
        data.take_over(self.data)
        registered = dict(self.members.registered)
        versions = dict(self.versions)
        return Past(data, registered, dict(self.seqs), self.version, versions, self.marker_changes)

    def lacks_shared(self, past: Past) -> bool:
        """Anything that brokers share, or a session."""
        return (
            past.version != self.version
            or past.marker_changes != self.marker_changes
            or past.registered != self.members.registered
        )

    def return_to(self, past: Past) -> None:
        self.data.take_over(past.data)
        self.seqs, self.version, self.versions = dict(past.seqs), past.version, dict(past.versions)
        self.marker_changes = past.marker_changes
        self.timeline += 1


class KnownContents(Contents):
    """The shared rows that a broker knows, and what it leads by them."""

    def __init__(self, database: Database, node_id: int) -> None:
        super().__init__(node_id)
        self._database = database
        self.learn()

    def learn(self) -> None:
        if self.version != self._database.version:
            changes = self._database.changed_since(self.version)
            leaders = [(row.key, row.value) for row in changes.rows if row.table == LEADERS]
            self.take_over(changes, self._gained_by(leaders))

    def own(self, staged: Staged) -> None:
        self.committed(staged, self._gained_by(staged.of_table(LEADERS)))

    def _gained_by(self, leaders: Sequence[tuple[bytes, bytes | None]]) -> Gained:
        own = (key for key, value in leaders if value and leader_of(value) == self._node_id)
        return NOTHING_GAINED._replace(partition_ids=frozenset(map(partition_id_of, own)))

    def go_back(self, connection: Any, writer_id: int) -> dict[int, int]:
        return {}


class StagedChanges(Staged):
    """Its rows are those that other brokers have, too."""

    __slots__ = ("changes",)

    def __init__(
        self, version: int, changes: list[Callable[[], None]], rows: Mapping[Key, bytes | None]
    ) -> None:
        super().__init__(version)
        self.changes = changes
        self.rows = {
            one: value for one, value in rows.items() if is_shared(one[0]) or one[0] == MARKERS
        }


class RepeatedCommits(LostCommits):
    def __init__(self, database: Database, contents: KnownContents, node_id: int) -> None:
        super().__init__(contents, node_id)
        self._database = database

    def _newer(self, connection: Any) -> list[Row] | None:
        return self._contents.known_rows().newer(self._database.changed_since(0))

    def _repeat(self, connection: Any, fence: Fence, commit: Any, ends: dict[int, int]) -> str:
        for change in commit.staged.changes:
            change()
        self._database.committed(self._node_id, commit.staged.rows)
        return ""
