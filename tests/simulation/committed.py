"""The model of committed offsets: every value that was ever on the disk, by number of commit.

What a client is told has to be what was there after some commit between its question and its
answer; what is acknowledged has to be there; and nothing goes that nobody took away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from domain.groups.offsets import CommittedOffset
from infrastructure.storage.repositories import offset_repository
from tests.simulation.store import Row

if TYPE_CHECKING:
    from tests.simulation.model import Incarnation, Model

#: Group, topic, partition.
Key = tuple[str, str, int]
#: The number of a commit, and the place in it: a commit may hold what takes something away and what
#: puts it there again.
Moment = tuple[int, int]
NOTHING = -1
LAST = 1 << 30


class Committed:
    def __init__(self, model: Model, now_ms: Callable[[], int], violation: type[Exception]) -> None:
        self._model = model
        self._now_ms = now_ms
        self._violation = violation
        self._history: dict[Key, list[tuple[Moment, CommittedOffset | None]]] = {}
        #: What clients ever asked to be kept: each attempt has an offset of its own.
        self._attempts: dict[Key, dict[int, str]] = {}
        self._next: dict[Key, int] = {}
        #: Which groups, and which offsets, somebody asked to take away.
        self._unwanted: set[str | Key] = set()
        self.retention_ms = 1 << 60
        #: Whether a group surely has a member that is subscribed to the topic.
        self.is_read: Callable[[str, str], bool] = lambda group_id, topic: False
        self.expired = 0
        self._place = 0

    # ---- what clients do

    def attempt(self, key: Key) -> tuple[int, str]:
        """An offset, and metadata, that nobody has committed before."""
        offset = self._next[key] = self._next.get(key, 0) + 1
        metadata = f"{key[0]} {offset}" if offset % 3 else ""
        self._attempts.setdefault(key, {})[offset] = metadata
        return offset, metadata

    def unwanted(self, what: str | Key) -> None:
        self._unwanted.add(what)

    # ---- what is committed

    def kept(self, row: Row, commit: int) -> None:
        self._place += 1
        moment = commit, self._place
        if row.value is None:
            fake = offset_repository._VALUE.pack(0, 0, 0, 0, bytes(16))
            group_id, topic, index, _ = offset_repository._row(row.key, fake)
            self._gone((group_id, topic, index), moment)
            return
        group_id, topic, index, value = offset_repository._row(row.key, row.value)
        key = group_id, topic, index
        if self._attempts.get(key, {}).get(value.offset) != value.metadata:
            raise self._violation(f"{key}: {value!r} was kept, and nobody committed it")
        self._history.setdefault(key, []).append((moment, value))

    def _gone(self, key: Key, moment: Moment) -> None:
        history = self._history.get(key)
        if not history or history[-1][1] is None:
            return
        value = history[-1][1]
        history.append((moment, None))
        if key in self._unwanted or key[0] in self._unwanted or not self._lives(key[1], value):
            return
        if self._now_ms() - value.commit_timestamp_ms < self.retention_ms:
            raise self._violation(f"{key} was forgotten, and nobody wanted that: {value!r}")
        if self.is_read(key[0], key[1]):
            raise self._violation(f"{key} has expired, and a member of its group reads {key[1]}")
        self.expired += 1

    def _lives(self, topic: str, value: CommittedOffset) -> bool:
        return any(
            one.topic_id == value.topic_id and one.dead is None
            for one in self._model.incarnations.get(topic, ())
        )

    # ---- what is there

    def keys(self, group_id: str) -> list[Key]:
        return [key for key in self._history if key[0] == group_id]

    def has_any(self, group_id: str, commit: int) -> bool:
        return self._has_any(group_id, (commit, LAST))

    def _has_any(self, group_id: str, moment: Moment) -> bool:
        return any(self._is_there(key, moment) for key in self.keys(group_id))

    def _is_there(self, key: Key, moment: Moment) -> bool:
        """What is left of a topic that is gone is nobody's any more."""
        value = self._at(key, moment)
        topics = self._model.incarnations.get(key[1], ())
        return value is not None and any(
            one.topic_id == value.topic_id and _is_alive(one, moment[0]) for one in topics
        )

    def strays(self) -> list[Key]:
        """What is still kept of topics that are gone."""
        return [
            key
            for key, history in self._history.items()
            if history[-1][1] is not None and not self._lives(key[1], history[-1][1])
        ]

    def _at(self, key: Key, moment: Moment) -> CommittedOffset | None:
        found = None
        for number, value in self._history.get(key, ()):
            if number > moment:
                break
            found = value
        return found

    def _moments(self, key: Key, asked: int, told: int) -> Iterator[Moment]:
        yield asked, LAST
        for moment, _ in self._history.get(key, ()):
            if asked < moment[0] <= told:
                yield moment
        for one in self._model.incarnations.get(key[1], ()):
            for number in (one.born, one.dead):
                if number is not None and asked < number <= told:
                    yield number, LAST

    def possible(self, key: Key, asked: int, told: int) -> set[int]:
        found: set[int] = set()
        for moment in self._moments(key, asked, told):
            value = self._at(key, moment)
            topics = self._model.incarnations.get(key[1], ())
            alive = [one for one in topics if _is_alive(one, moment[0])]
            if value is None or not any(one.topic_id == value.topic_id for one in alive):
                found.add(NOTHING)
            if value is not None and all(one.topic_id == value.topic_id for one in alive):
                found.add(value.offset)
        return found

    # ---- what clients are told

    def acked(self, key: Key, offset: int, told: int) -> None:
        for moment, value in self._history.get(key, ()):
            if value is not None and value.offset == offset and moment[0] <= told:
                return
        raise self._violation(
            f"{key}: {offset} was acknowledged after commit {told}, and is not kept"
        )

    def told(self, key: Key, offset: int, metadata: str, asked: int, told: int) -> None:
        possible = self.possible(key, asked, told)
        if offset not in possible:
            raise self._violation(
                f"{key} was said to be at {offset}; possible were {possible} "
                f"(asked at commit {asked}, told at {told})"
            )
        if offset != NOTHING and metadata != self._attempts[key][offset]:
            raise self._violation(f"{key} at {offset} was said to have metadata {metadata!r}")

    def deleted(self, group_id: str, asked: int, told: int) -> None:
        """DeleteGroups was answered well: at some moment in between it had nothing."""
        moments = {(asked, LAST)}
        for key in self.keys(group_id):
            moments.update(self._moments(key, asked, told))
        if all(self._has_any(group_id, moment) for moment in moments):
            raise self._violation(f"{group_id} is said to be deleted, and its offsets are there")

    def removed(self, key: Key, asked: int, told: int) -> None:
        """So was OffsetDelete."""
        if all(self._is_there(key, one) for one in self._moments(key, asked, told)):
            raise self._violation(f"{key} is said to be deleted, and is there")


def _is_alive(topic: Incarnation, commit: int) -> bool:
    return topic.born <= commit and (topic.dead is None or topic.dead > commit)
