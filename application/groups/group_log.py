"""GroupLog: log lines about groups, for the operator of the broker.

It sees all changes, in the registry, and writes about them when they are durable; about those that
are never persisted, when they are decided. There is a line for each generation or epoch, not for
each member that joins; a group that changes faster has one line a second, which counts the rest.
Lines that wait are written before the broker stops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from application.background.runner import Runner
from application.groups.configs import GroupConfigs
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from domain.configs.broker import BrokerConfig
from domain.groups.classic.changes import (
    GroupMetadataChanged,
    Image,
    MemberJoined,
    MemberPending,
    MemberSynced,
    RebalanceExtended,
    SyncsAnswered,
)
from domain.groups.classic.departures import of_classic
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.states import State
from domain.groups.consumer.changes import EpochChanged
from domain.groups.consumer.departures import of_consumer
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.group import Changes, Departed, Departure, GroupKind

#: A group has no more than one line of its generations or epochs in this time.
PAUSE_MS = 1000
#: So many members that go together are named; the others are counted.
NAMED_TOGETHER = 10

#: No reason for anything, where they come alone.
_NO_REASON = (MemberPending, MemberSynced, RebalanceExtended, SyncsAnswered)
_NUMBERS = {GroupKind.CLASSIC: "generation", GroupKind.CONSUMER: "epoch"}
_BEGUN = {
    GroupKind.CLASSIC: "a generation of a group begins",
    GroupKind.CONSUMER: "an epoch of a group begins",
}


class _Begun:
    """A generation or an epoch, or the newest of several that share a line."""

    __slots__ = ("kind", "members", "number", "protocol", "reasons", "together")

    def __init__(
        self, kind: GroupKind, number: int, members: int, protocol: str, reasons: Counter[str]
    ) -> None:
        self.kind = kind
        self.number = number
        self.members = members
        self.protocol = protocol
        self.reasons = reasons
        self.together = 1


class GroupLog:
    def __init__(
        self,
        groups: Groups,
        events: EventLog,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        configs: GroupConfigs,
    ) -> None:
        self._groups = groups
        self._events = events
        self._clock = clock
        self._background = background
        self._assignors = config.group_consumer_assignors
        self._of_kind: dict[GroupKind, Callable[[Any, Changes], Callable[[], None] | None]] = {
            GroupKind.CLASSIC: self._classic,
            GroupKind.CONSUMER: self._consumer,
        }
        self._configs = configs
        #: Why a classic group rebalances: what came together since its last generation.
        self._reasons: dict[str, Counter[str]] = {}
        #: Groups that had a line less than PAUSE_MS ago, with what waits for the next one.
        self._paused: dict[str, _Begun | None] = {}
        #: How many offsets have expired of groups that stay, a slice after the other.
        self._expired: Counter[str] = Counter()
        background.at_end(self._write_waiting)
        groups.listen(self._changing)
        groups.when_lost(self._forget)
        groups.when_gone(self._forget)

    def _forget(self, group_id: str) -> None:
        self._reasons.pop(group_id, None)

    # ---- changes

    def _changing(self, changes: Changes) -> Callable[[], None] | None:
        """Called before they are applied; what it returns writes the lines."""
        if not changes:
            return None
        group = self._groups.find(changes[0].group_id)
        return self._of_kind[GroupKind.CONSUMER if group is None else group.kind](group, changes)

    def _classic(self, group: ClassicGroup, changes: Changes) -> Callable[[], None] | None:
        group_id = group.group_id
        if len(changes) == 1:
            # Nearly all: hundreds of members join for each generation.
            first = changes[0]
            if type(first) in _NO_REASON:
                return None
            if isinstance(first, MemberJoined) and group.state is State.PREPARING_REBALANCE:
                if first.member.member_id not in group.members:
                    self._reasons.setdefault(group_id, Counter())["came"] += 1
                return None
        epoch = _epoch_of(changes)
        if epoch is not None:
            self._forget(group_id)
            _, _, members = of_consumer(None, changes, 0, lambda: 0)
            begun = _Begun(
                GroupKind.CONSUMER, epoch, members, "", Counter({"became a consumer group": 1})
            )
            return self._writing(group_id, (), group.kind, begun)
        reasons, departed = of_classic(group, changes)
        images = _images_of(changes)
        image = images[-1] if images else None
        begins = image is not None and image.generation_id > group.generation_id
        if reasons and (begins or not images):
            self._reasons.setdefault(group_id, Counter()).update(reasons)
        if image is None or not begins:
            return self._writing(group_id, departed) if departed else None
        begun = _generation(image, self._reasons.pop(group_id, Counter()))
        return self._writing(group_id, departed, begun=begun)

    def _consumer(self, group: ConsumerGroup | None, changes: Changes) -> Callable[[], None] | None:
        group_id = changes[0].group_id
        now_ms = self._clock.monotonic_ms()
        reasons, departed, members = of_consumer(
            group, changes, now_ms, lambda: self._configs.of(group_id).consumer_session_timeout_ms
        )
        image = next((one for one in _images_of(changes) if one is not None), None)
        if image is not None:
            # Its members join before its next generation: these are the reasons.
            self._reasons[group_id] = reasons
            begun = _generation(image, reasons)
            return self._writing(group_id, departed, GroupKind.CONSUMER, begun)
        epoch = _epoch_of(changes)
        if epoch is None:
            return None
        if not reasons:
            reasons["topics changed"] = 1
        begun = _Begun(GroupKind.CONSUMER, epoch, members, "", reasons)
        return self._writing(group_id, departed, begun=begun)

    def _writing(
        self,
        group_id: str,
        departed: Sequence[Departed],
        was: GroupKind | None = None,
        begun: _Begun | None = None,
    ) -> Callable[[], None]:
        """`was`: the kind of a group that changes it."""

        def write() -> None:
            self._write_removals(group_id, departed)
            if begun is None:
                return
            if was is not None:
                self._events.info(
                    "a group changes its kind", group=group_id, kind=begun.kind.value,
                    was=was.value, **{_NUMBERS[begun.kind]: begun.number}, members=begun.members,
                )  # fmt: skip
            # A group that becomes classic goes on in the generation of its epoch.
            if was is None or begun.kind is GroupKind.CONSUMER:
                self._begins(group_id, begun)

        return write

    # ---- lines

    def offsets_expired(self, group_id: str, offsets: int) -> None:
        if group_id not in self._expired and not self._background.is_over:
            self._background.after_ms(PAUSE_MS, lambda: self._write_expired(group_id))
        self._expired[group_id] += offsets
        if self._background.is_over:
            self._write_expired(group_id)

    def _write_expired(self, group_id: str) -> None:
        offsets = self._expired.pop(group_id, 0)
        if offsets:
            self._events.info("offsets of a group expire", group=group_id, offsets=offsets)

    def deleted(self, group_id: str, kind: GroupKind, offsets: int, expired: bool) -> None:
        self._write_expired(group_id)
        self._events.info(
            "a group expires" if expired else "a group is deleted",
            group=group_id,
            kind=kind.value,
            offsets=offsets,
        )

    def _write_removals(self, group_id: str, departed: Sequence[Departed]) -> None:
        for one in departed[:NAMED_TOGETHER]:
            self._events.info(
                "a member is taken out of a group",
                group=group_id,
                member=one.member_id,
                client_id=one.client_id,
                host=one.client_host,
                why=one.why.value,
                after_ms=one.after_ms,
            )
        more = len(departed) - NAMED_TOGETHER
        if more > 0:
            self._events.info("more members are taken out of a group", group=group_id, members=more)

    def _begins(self, group_id: str, begun: _Begun) -> None:
        if group_id not in self._paused:
            self._write_begun(group_id, begun)
            return
        held = self._paused[group_id]
        if held is not None:
            begun.reasons.update(held.reasons)
            begun.together += held.together if held.kind is begun.kind else 0
        self._paused[group_id] = begun

    def _end_pause(self, group_id: str) -> None:
        held = self._paused.pop(group_id, None)
        if held is not None:
            self._write_begun(group_id, held)

    def _write_waiting(self) -> None:
        for group_id in list(self._expired):
            self._write_expired(group_id)
        for group_id in list(self._paused):
            self._end_pause(group_id)

    def _write_begun(self, group_id: str, begun: _Begun) -> None:
        if not self._background.is_over:
            self._paused[group_id] = None
            self._background.after_ms(PAUSE_MS, lambda: self._end_pause(group_id))
        number = _NUMBERS[begun.kind]
        fields: dict[str, object] = {number: begun.number, "members": begun.members}
        group = self._groups.find(group_id)
        if begun.kind is GroupKind.CLASSIC:
            fields["protocol"] = begun.protocol
        elif group is not None and group.kind is begun.kind:
            fields["assignor"] = group.assignor(self._assignors)
        fields["reason"] = _in_words(begun.reasons)
        if begun.together > 1:
            fields[f"{number}s"] = begun.together
        self._events.info(_BEGUN[begun.kind], group=group_id, **fields)


def _epoch_of(changes: Changes) -> int | None:
    epochs = [one.epoch for one in changes if isinstance(one, EpochChanged)]
    return epochs[-1] if epochs else None


def _images_of(changes: Changes) -> list[Image | None]:
    return [one.image for one in changes if isinstance(one, GroupMetadataChanged)]


def _generation(image: Image, reasons: Counter[str]) -> _Begun:
    return _Begun(
        GroupKind.CLASSIC,
        image.generation_id,
        len(image.members),
        image.protocol_name or "",
        reasons,
    )


def _in_words(reasons: Counter[str]) -> str:
    said = [
        words
        if words not in _OF_MEMBERS
        else f"a member {words}"
        if number == 1
        else f"{number} members {words}"
        for words, number in reasons.items()
    ]
    return ", ".join(said) or "members joined again"


_OF_MEMBERS = {one.value for one in Departure} | {
    "came", "came back", "joined again", "wants other topics",
}  # fmt: skip
