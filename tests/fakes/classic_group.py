"""A classic group that decides and applies requests, with a clock set by hand."""

from __future__ import annotations

from typing import Any

from domain.groups.classic.changes import (
    GroupMetadataChanged,
    Image,
    JoinResponse,
    Now,
    SessionsStarted,
    SyncResponse,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.join import join
from domain.groups.classic.leave import LeavingMember, leave
from domain.groups.classic.member import JoinRequest, Protocols
from domain.groups.classic.rebalance import Limits, expire, follow_up
from domain.groups.classic.sync import SyncRequest, sync
from domain.groups.group import Decision

WALL_MS = 1_000_000
RANGE: Protocols = (("range", b"r"),)


class PlayedGroup:
    """Responses are by token; a token is the number of the request."""

    def __init__(
        self, max_size: int = 100, initial_delay_ms: int = 0, max_metadata_bytes: int = 1 << 20
    ) -> None:
        self.group = ClassicGroup("g")
        self.limits = Limits(6000, 1_800_000, max_size, initial_delay_ms, max_metadata_bytes)
        self.now_ms = 0
        self.asked = 0
        self.answers: dict[int, Any] = {}
        self.kept: list[Image | None] = []

    @property
    def now(self) -> Now:
        return Now(self.now_ms, WALL_MS + self.now_ms)

    @property
    def state(self) -> str:
        return self.group.state_name

    # ---- requests

    def join(
        self,
        member_id: str = "",
        new_id: str = "",
        instance_id: str | None = None,
        protocols: Protocols = RANGE,
        session_ms: int = 10_000,
        rebalance_ms: int = 60_000,
        protocol_type: str = "consumer",
        twice: bool = False,
        may_skip: bool = True,
    ) -> int:
        """Returns its token; without an id it gets `new_id`, at once unless `twice`."""
        request = JoinRequest(
            *("g", member_id, instance_id, "c", "/h", session_ms, rebalance_ms),
            *(protocol_type, protocols, twice, may_skip),
        )
        self.asked += 1
        decision = join(self.group, request, new_id, self.asked, self.now, self.limits)
        self.carry_out(decision)
        return self.asked

    def sync(self, member_id: str, generation_id: int, **shares: bytes) -> int:
        request = SyncRequest("g", generation_id, member_id, None, None, None, shares)
        self.asked += 1
        self.carry_out(sync(self.group, request, self.asked, self.now, self.limits))
        return self.asked

    def leave(self, *members: tuple[str, str | None]) -> list[str]:
        """The result of each member, by the name of the error."""
        leaving = [LeavingMember(*one) for one in members]
        decision = leave(self.group, leaving, self.now_ms, self.limits)
        self.carry_out(decision)
        return [type(error).__name__ if error else "" for error in decision.response]

    def hear(self, member_id: str) -> None:
        self.group.members[member_id].renew(self.now_ms)

    def carry_out(self, decision: Decision | None) -> None:
        while decision is not None:
            for change in decision.changes:
                self.group.apply(change)
                if isinstance(change, GroupMetadataChanged):
                    self.kept.append(change.image)
            for token, answer in decision.responses:
                assert token not in self.answers, "nobody is answered twice"
                self.answers[token] = answer
            decision = follow_up(self.group, self.now)

    # ---- time

    def due(self) -> None:
        """Runs timers that are due."""
        while (decision := expire(self.group, self.now, self.limits)) is not None:
            self.carry_out(decision)

    def pass_time(self, by_ms: int) -> None:
        """Runs each timer at its time."""
        end_ms = self.now_ms + by_ms
        self.due()
        while (next_ms := self.group.next_deadline()) is not None and next_ms <= end_ms:
            self.now_ms = max(next_ms, self.now_ms)
            self.due()
        self.now_ms = end_ms

    def restart(self) -> None:
        """Reloads the group from its persisted rows."""
        self.group = ClassicGroup("g")
        if self.kept:
            self.group.apply(GroupMetadataChanged("g", self.kept[-1]))
        self.group.apply(SessionsStarted("g", self.now_ms))

    # ---- responses

    def waits(self, token: int) -> bool:
        return token not in self.answers

    def joined(self, token: int) -> JoinResponse:
        answer = self.answers[token]
        assert isinstance(answer, JoinResponse) and answer.error is None, answer
        return answer

    def synced(self, token: int) -> bytes:
        answer = self.answers[token]
        assert isinstance(answer, SyncResponse) and answer.error is None, answer
        return answer.assignment

    def refused(self, token: int) -> str:
        """The name of the error."""
        return type(self.answers[token].error).__name__

    # ---- stages

    def generation(self, *member_ids: str, **facts: Any) -> None:
        """Joins the members one by one into a first generation without an assignment."""
        tokens = [self.join(new_id=one, **facts) for one in member_ids]
        self.due()
        for token in tokens:
            self.joined(token)

    def stable(self, *member_ids: str, **facts: Any) -> None:
        """As `generation`; the first member leads and assigns each its own id."""
        self.generation(*member_ids, **facts)
        shares = {one: one.encode() for one in self.group.members}
        for one in [*member_ids[1:], member_ids[0]]:
            self.sync(one, self.group.generation_id, **shares)
        assert self.state == "Stable"
