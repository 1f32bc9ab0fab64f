"""The model of committed offsets: every value on the disk, by commit number.

A response has to show a state between its request and itself; acknowledged commits are durable;
offsets disappear only by deletion, with their topic or by expiry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from domain.groups.offsets import CommittedOffset
from infrastructure.storage.repositories import offset_repository
from tests.simulation.disk import Row

if TYPE_CHECKING:
    from tests.simulation.incarnation import Incarnation
    from tests.simulation.model import Model

#: Group, topic, partition.
Key = tuple[str, str, int]
#: Commit number and position in the commit: a commit may delete an offset and write it again.
Moment = tuple[int, int]
NOTHING = -1
LAST = 1 << 30


class Committed:
    def __init__(self, model: Model, now_ms: Callable[[], int], violation: type[Exception]) -> None:
        self._model = model
        self._now_ms = now_ms
        self._violation = violation
        self._history: dict[Key, list[tuple[Moment, CommittedOffset | None]]] = {}
        #: All commits of clients: each attempt has its own offset.
        self._attempts: dict[Key, dict[int, str]] = {}
        self._next: dict[Key, int] = {}
        #: Groups and offsets that clients have requested to delete.
        self._deletions: set[str | Key] = set()
        self.retention_ms = 1 << 60
        #: Key and offset of those that had expired when the clock was set back.
        self._had_expired: set[tuple[Key, int]] = set()
        #: Returns True if the group has a live member that is subscribed to the topic.
        self.is_read: Callable[[str, str], bool] = lambda group_id, topic: False
        self.expired = 0
        self._place = 0

    # ---- requests

    def attempt(self, key: Key) -> tuple[int, str]:
        """Returns a new offset and its metadata."""
        offset = self._next[key] = self._next.get(key, 0) + 1
        metadata = f"{key[0]} {offset}" if offset % 3 else ""
        self._attempts.setdefault(key, {})[offset] = metadata
        return offset, metadata

    def deletion_requested(self, what: str | Key) -> None:
        self._deletions.add(what)

    def clock_goes_back(self) -> None:
        """The broker may have decided to remove these offsets, and persist that later."""
        for key, history in self._history.items():
            value = history[-1][1]
            if value is not None and self._is_old(value):
                self._had_expired.add((key, value.offset))

    # ---- commits

    def persisted(self, row: Row, commit: int) -> None:
        self._place += 1
        moment = commit, self._place
        if row.value is None:
            fake = offset_repository._VALUE.pack(0, 0, 0, 0, bytes(16))
            group_id, topic, index, _ = offset_repository.offset_row(row.key, fake)
            self._gone((group_id, topic, index), moment)
            return
        group_id, topic, index, value = offset_repository.offset_row(row.key, row.value)
        key = group_id, topic, index
        if self._attempts.get(key, {}).get(value.offset) != value.metadata:
            raise self._violation(f"{key}: {value!r} was stored, and no client committed it")
        self._model.transactions.offset_persisted(key, value.offset)
        self._history.setdefault(key, []).append((moment, value))

    def _gone(self, key: Key, moment: Moment) -> None:
        history = self._history.get(key)
        if not history or history[-1][1] is None:
            return
        value = history[-1][1]
        history.append((moment, None))
        if key in self._deletions or key[0] in self._deletions or not self._lives(key[1], value):
            return
        if not self._is_old(value) and (key, value.offset) not in self._had_expired:
            raise self._violation(f"{key} was removed without a reason: {value!r}")
        if self.is_read(key[0], key[1]):
            raise self._violation(f"{key} has expired, and a member of its group reads {key[1]}")
        self.expired += 1

    def _is_old(self, value: CommittedOffset) -> bool:
        return self._now_ms() - value.commit_timestamp_ms >= self.retention_ms

    def _lives(self, topic: str, value: CommittedOffset) -> bool:
        return any(
            one.topic_id == value.topic_id and one.dead is None
            for one in self._model.incarnations.get(topic, ())
        )

    # ---- state

    def newest(self, key: Key) -> int | None:
        """As the store has it."""
        history = self._history.get(key)
        value = history[-1][1] if history else None
        return None if value is None else value.offset

    def keys(self, group_id: str) -> list[Key]:
        return [key for key in self._history if key[0] == group_id]

    def always_has_any(self, group_id: str, first: int, last: int) -> bool:
        moments = {(first, LAST)}
        for key in self.keys(group_id):
            moments.update(self._moments(key, first, last))
        return all(self._has_any(group_id, moment) for moment in moments)

    def _has_any(self, group_id: str, moment: Moment) -> bool:
        return any(self._is_there(key, moment) for key in self.keys(group_id))

    def _is_there(self, key: Key, moment: Moment) -> bool:
        """Offsets of a deleted topic do not count."""
        value = self._at(key, moment)
        topics = self._model.incarnations.get(key[1], ())
        return value is not None and any(
            one.topic_id == value.topic_id and _is_alive(one, moment[0]) for one in topics
        )

    def strays(self) -> list[Key]:
        """Returns offsets of deleted topics."""
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

    def _moments(self, key: Key, first: int, last: int) -> Iterator[Moment]:
        yield first, LAST
        for moment, _ in self._history.get(key, ()):
            if first < moment[0] <= last:
                yield moment
        for one in self._model.incarnations.get(key[1], ()):
            for number in (one.born, one.dead):
                if number is not None and first < number <= last:
                    yield number, LAST

    def possible(self, key: Key, first: int, last: int) -> set[int]:
        found: set[int] = set()
        for moment in self._moments(key, first, last):
            value = self._at(key, moment)
            topics = self._model.incarnations.get(key[1], ())
            alive = [one for one in topics if _is_alive(one, moment[0])]
            if value is None or not any(one.topic_id == value.topic_id for one in alive):
                found.add(NOTHING)
            if value is not None and all(one.topic_id == value.topic_id for one in alive):
                found.add(value.offset)
        return found

    # ---- responses

    def acked(self, key: Key, offset: int, last: int) -> None:
        for moment, value in self._history.get(key, ()):
            if value is not None and value.offset == offset and moment[0] <= last:
                return
        raise self._violation(
            f"{key}: {offset} was acknowledged after commit {last}, and is not durable"
        )

    def check(self, key: Key, offset: int, metadata: str, first: int, last: int) -> None:
        possible = self.possible(key, first, last)
        if offset not in possible:
            raise self._violation(
                f"{key} is at {offset} in the response; possible are {possible} "
                f"(requested at commit {first}, responded at {last})"
            )
        if offset != NOTHING and metadata != self._attempts[key][offset]:
            raise self._violation(f"{key} at {offset} has metadata {metadata!r}")

    def deleted(self, group_id: str, first: int, last: int) -> None:
        """Checks a successful DeleteGroups: at some commit in between it had no offsets."""
        if self.always_has_any(group_id, first, last):
            raise self._violation(f"{group_id} is deleted in the response, and has offsets")

    def removed(self, key: Key, first: int, last: int) -> None:
        """Checks a successful OffsetDelete."""
        if all(self._is_there(key, one) for one in self._moments(key, first, last)):
            raise self._violation(f"{key} is deleted in the response, and exists")


def _is_alive(topic: Incarnation, commit: int) -> bool:
    return topic.born <= commit and (topic.dead is None or topic.dead > commit)
