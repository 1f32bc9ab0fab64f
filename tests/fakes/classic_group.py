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
        self.requests = 0
        self.responses: dict[int, Any] = {}
        self.persisted: list[Image | None] = []

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
        joins_twice: bool = False,
        may_skip: bool = True,
    ) -> int:
        """Returns its token; without a member id it gets `new_id`."""
        request = JoinRequest(
            *("g", member_id, instance_id, "c", "/h", session_ms, rebalance_ms),
            *(protocol_type, protocols, joins_twice, may_skip),
        )
        self.requests += 1
        decision = join(self.group, request, new_id, self.requests, self.now, self.limits)
        self.carry_out(decision)
        return self.requests

    def sync(self, member_id: str, generation_id: int, **shares: bytes) -> int:
        request = SyncRequest("g", generation_id, member_id, None, None, None, shares)
        self.requests += 1
        self.carry_out(sync(self.group, request, self.requests, self.now, self.limits))
        return self.requests

    def leave(self, *members: tuple[str, str | None]) -> list[str]:
        """The result of each member, by the name of the error."""
        leaving = [LeavingMember(*one) for one in members]
        decision = leave(self.group, leaving, self.now_ms, self.limits)
        self.carry_out(decision)
        return [type(error).__name__ if error else "" for error in decision.response]

    def renew(self, member_id: str) -> None:
        self.group.members[member_id].renew(self.now_ms)

    def carry_out(self, decision: Decision | None) -> None:
        while decision is not None:
            for change in decision.changes:
                self.group.apply(change)
                if isinstance(change, GroupMetadataChanged):
                    self.persisted.append(change.image)
            for token, response in decision.responses:
                assert token not in self.responses, "two responses to one request"
                self.responses[token] = response
            decision = follow_up(self.group, self.now)

    # ---- time

    def run_timers(self) -> None:
        """Runs timers that are due."""
        while (decision := expire(self.group, self.now, self.limits)) is not None:
            self.carry_out(decision)

    def advance(self, by_ms: int) -> None:
        """Runs each timer at its time."""
        end_ms = self.now_ms + by_ms
        self.run_timers()
        while (next_ms := self.group.next_deadline()) is not None and next_ms <= end_ms:
            self.now_ms = max(next_ms, self.now_ms)
            self.run_timers()
        self.now_ms = end_ms

    def restart(self) -> None:
        """Reloads the group from its persisted rows."""
        self.group = ClassicGroup("g")
        if self.persisted:
            self.group.apply(GroupMetadataChanged("g", self.persisted[-1]))
        self.group.apply(SessionsStarted("g", self.now_ms))

    # ---- responses

    def is_pending(self, token: int) -> bool:
        return token not in self.responses

    def joined(self, token: int) -> JoinResponse:
        response = self.responses[token]
        assert isinstance(response, JoinResponse) and response.error is None, response
        return response

    def synced(self, token: int) -> bytes:
        response = self.responses[token]
        assert isinstance(response, SyncResponse) and response.error is None, response
        return response.assignment

    def error_of(self, token: int) -> str:
        """The name of the error."""
        return type(self.responses[token].error).__name__

    # ---- stages

    def generation(self, *member_ids: str, **fields: Any) -> None:
        """Joins the members one by one into a first generation without an assignment."""
        tokens = [self.join(new_id=one, **fields) for one in member_ids]
        self.run_timers()
        for token in tokens:
            self.joined(token)

    def stable(self, *member_ids: str, **fields: Any) -> None:
        """As `generation`; the first member leads and assigns each its own id."""
        self.generation(*member_ids, **fields)
        shares = {one: one.encode() for one in self.group.members}
        for one in [*member_ids[1:], member_ids[0]]:
            self.sync(one, self.group.generation_id, **shares)
        assert self.state == "Stable"
