"""Members of groups of both protocols: groups survive the broker's deaths."""

from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from interfaces.kafka.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from interfaces.kafka.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from interfaces.kafka.wire.schema import Request, Response
from tests.crash.fleet import Client
from tests.crash.ledger import Broken
from tests.crash.offsets import (
    LOADING,
    NOT_AVAILABLE,
    TAGS,
    VERSION,
    Ledgers,
    codes_of_commit,
    commit_request,
    flexible,
)
from tests.crash.topics import Topics
from tests.e2e.raw_client import Reader
from tests.fakes.consumer_protocol import subscription

ILLEGAL_GENERATION, UNKNOWN_MEMBER, REBALANCES, ID_REQUIRED = 22, 25, 27, 79
FENCED_EPOCH, STALE_EPOCH, UNKNOWN_TOPIC = 110, 113, 3
LATER = (LOADING, NOT_AVAILABLE)
#: Longer than any run.
SESSION_MS = 60_000
#: How often a stable member starts a rebalance.
REJOINS_AFTER = 12


class Group:
    """The newest generation and epoch that members received; they must not go back."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.highest = 0

    def received(self, number: int, floor: int, client: str) -> None:
        if number < floor:
            raise Broken(f"{self.group_id} was at {floor}, and {client} gets {number}")
        self.highest = max(self.highest, number)


class Member(Client):
    def __init__(self, name: str, group: Group, topics: Topics, ledgers: Ledgers | None) -> None:
        super().__init__(name)
        self.group, self.topics, self.ledgers = group, topics, ledgers
        self.member_id = ""
        self.number = 0
        #: It is a member, and stays one after a restart.
        self.has_place = False
        self.responses = 0

    def request(self, request: Request, version: int, response: type[Response]) -> None:
        floor = self.group.highest
        self.send_request(
            request.api_key,
            version,
            flexible(request, version),
            (request, version, response, floor),
        )

    def on_response(self, context: Any, response: Reader) -> None:
        self.responses += 1
        request, version, message, floor = context
        if message is None:
            self.committed(request, codes_of_commit(response))
            return
        self.received(request, message.decode(version, response.data, TAGS)[0], floor)

    def received(self, request: Any, response: Any, floor: int) -> None:
        raise NotImplementedError

    def send_next(self) -> None:
        if not self.pending:
            self.send_one()

    def send_one(self) -> None:
        raise NotImplementedError

    def refused(self, code: int, what: str) -> None:
        if code == UNKNOWN_MEMBER and self.has_place:
            raise Broken(f"{self.name} lost its membership: {what}")
        if code not in (*LATER, UNKNOWN_MEMBER, ILLEGAL_GENERATION, REBALANCES, FENCED_EPOCH):
            raise Broken(f"{self.name}: {what} failed with {code}")

    # ---- offsets

    def commit(self) -> bool:
        """Commits offsets of the main topic, as the only committer of the group."""
        if self.ledgers is None:
            return False
        ledger = self.ledgers.of(self.group.group_id, self.topics.main)
        ledger.sent += 1
        request = commit_request(ledger, ledger.sent, self.member_id, self.number)
        context = (ledger, ledger.sent), VERSION, None, 0
        self.send_request(request.api_key, VERSION, flexible(request, VERSION), context)
        return True

    def committed(self, sent: Any, codes: set[int]) -> None:
        ledger, number = sent
        if codes == {0}:
            ledger.acknowledged = max(ledger.acknowledged, number)
            return
        for code in codes - {0, UNKNOWN_TOPIC, STALE_EPOCH}:
            if not (self.storage_may_fail and code == 56):
                self.refused(code, "OffsetCommit")


class ClassicMember(Member):
    """Two members: now and then the leader rejoins, and the other must follow."""

    leads = False
    #: Assignments of all members, if it leads.
    ids: tuple[str, ...] = ()

    def begin(self) -> None:
        super().begin()
        self._state = "joined" if self.has_place else "out"

    def send_one(self) -> None:
        if self._state == "out":
            self._join()
        elif self._state == "joining":
            self._sync()
        elif self.leads and self.responses % REJOINS_AFTER == 0:
            self._join()
        elif self.responses % 2 or not self.commit():
            request = HeartbeatRequest(
                group_id=self.group.group_id, generation_id=self.number, member_id=self.member_id
            )
            self.request(request, 4, HeartbeatResponse)

    def _join(self) -> None:
        self.has_place = False
        metadata = subscription(self.topics.main.name)
        request = JoinGroupRequest(
            group_id=self.group.group_id,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )
        self.request(request, 7, JoinGroupResponse)

    def _sync(self) -> None:
        shares = [SyncGroupRequestAssignment(member_id=one, assignment=b"x") for one in self.ids]
        request = SyncGroupRequest(
            group_id=self.group.group_id,
            generation_id=self.number,
            member_id=self.member_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=shares,
        )
        self.request(request, 5, SyncGroupResponse)

    def received(self, request: Any, response: Any, floor: int) -> None:
        code = response.error_code
        if isinstance(response, JoinGroupResponse) and code in (0, ID_REQUIRED):
            self.member_id = response.member_id
            if code == 0:
                self._in_generation(response, floor)
        elif code:
            self.refused(code, type(request).__name__)
            if code not in LATER:
                self.has_place = False
                self._state = "out"
            if code == UNKNOWN_MEMBER:
                self.member_id = ""
        elif isinstance(response, SyncGroupResponse):
            self._state = "joined"
            self.has_place = True

    def _in_generation(self, response: JoinGroupResponse, floor: int) -> None:
        self.group.received(response.generation_id, floor, self.name)
        self.number = response.generation_id
        self.leads = response.leader == self.member_id
        self.ids = tuple(one.member_id for one in response.members) if self.leads else ()
        self._state = "joining"


class ConsumerMember(Member):
    """It never has to rejoin: after a restart it continues with its epoch."""

    owned: list[TopicPartitions] | None = None

    def send_one(self) -> None:
        joins = self.number == 0
        owned = [] if joins else self.owned
        if not joins and self.responses % 3 == 0 and self.commit():
            return
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group.group_id,
            member_id=self.name,
            member_epoch=self.number,
            topic_partitions=owned,
        )
        self.member_id = self.name
        if joins:
            request.rebalance_timeout_ms = SESSION_MS
        if joins or self.responses % REJOINS_AFTER == 0:
            request.subscribed_topic_names = [self.topics.main.name]
        self.request(request, 1, ConsumerGroupHeartbeatResponse)

    def received(self, request: Any, response: Any, floor: int) -> None:
        code = response.error_code
        if code == 0:
            joined = request.member_epoch == 0
            if response.member_epoch < self.number:
                raise Broken(f"{self.name} was at {self.number}, gets {response.member_epoch}")
            self.group.received(response.member_epoch, floor if joined else 0, self.name)
            self.number, self.has_place = response.member_epoch, True
            if response.assignment is not None:
                self.owned = response.assignment.topic_partitions
            return
        self.refused(code, "ConsumerGroupHeartbeat")
        if code == FENCED_EPOCH:
            self.number, self.has_place = 0, False
