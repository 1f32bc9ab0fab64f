"""How long a group takes to form, to add a member, and to remove one.

python -m tests.bench.clients.members HOST:PORT TOPIC classic|consumer --members 10

Each member is a connection that sends the least the protocol requires, with a heartbeat every
HEARTBEAT_S. Clients learn of a rebalance from their next heartbeat, so that delay is part of every
time but that of forming. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import struct
import time
import uuid
from collections.abc import Callable
from typing import Any

from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest
from interfaces.kafka.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest
from interfaces.kafka.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from interfaces.kafka.wire.schema import Request
from tests.e2e.raw_client import array, string
from tests.fakes.client import frame, response_type

HEARTBEAT_S = 0.1
PATIENCE_S = 60.0
MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS = 79, 27
#: A consumer's subscription and assignment in version 0, up to what the assignor adds of its own.
#: Kafka does not respond to a member whose subscription it cannot parse.
_NO_BYTES = struct.pack(">i", -1)
_ASSIGNMENT = struct.pack(">hi", 0, 0)


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._correlation_id = 0

    @classmethod
    async def open(cls, address: str) -> Connection:
        host, _, port = address.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def request(self, request: Request, version: int) -> Any:
        self._correlation_id += 1
        self._writer.write(frame(request, version, self._correlation_id))
        size = int.from_bytes(await self._reader.readexactly(4), "big")
        response = await self._reader.readexactly(size)
        assert int.from_bytes(response[:4], "big") == self._correlation_id
        start = 5 if request.is_flexible(version) else 4
        return response_type(request).decode(version, response, start)[0]

    def close(self) -> None:
        self._writer.close()


class Group:
    """Wakes the waiter for a stable group after each step of a member."""

    def __init__(self, address: str, topic: str, partitions: int) -> None:
        self.address = address
        self.topic = topic
        self.partitions = partitions
        self.subscription = struct.pack(">h", 0) + array([string(topic)]) + _NO_BYTES
        self.group_id = f"bench-{uuid.uuid4()}"
        self.moved = asyncio.Event()
        self._wrong: BaseException | None = None

    def ended(self, life: asyncio.Task[None]) -> None:
        if not life.cancelled() and life.exception() is not None:
            self._wrong = life.exception()
            self.moved.set()

    async def until(self, settled: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not settled():
                if self._wrong is not None:
                    raise self._wrong
                self.moved.clear()
                await self.moved.wait()


class Member:
    def __init__(self, group: Group) -> None:
        self._group = group
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Before its next heartbeat."""
        self._leaving.set()

    async def _pause(self) -> bool:
        """Waits until the next heartbeat; True: the member leaves instead."""
        try:
            await asyncio.wait_for(self._leaving.wait(), HEARTBEAT_S)
        except TimeoutError:
            return False
        return True


class ClassicMember(Member):
    def __init__(self, group: Group) -> None:
        super().__init__(group)
        self.member_id = ""
        #: Generation of its assignment; 0 without one.
        self.generation = 0
        self.size = 0

    async def live(self) -> None:
        connection = await Connection.open(self._group.address)
        try:
            staying = True
            while staying:
                await self._join(connection)
                self._group.moved.set()
                staying = await self._stay(connection)
            request = LeaveGroupRequest(group_id=self._group.group_id, member_id=self.member_id)
            await connection.request(request, 1)
        finally:
            connection.close()

    async def _join(self, connection: Connection) -> None:
        self.generation = 0
        response = None
        while response is None or response.error_code == MEMBER_ID_REQUIRED:
            if response is not None:
                self.member_id = response.member_id
            response = await connection.request(self._join_request(), 5)
        assert response.error_code == 0, response
        self.member_id = response.member_id
        generation = response.generation_id
        response = await connection.request(self._sync_request(generation, response.members), 3)
        if response.error_code == REBALANCE_IN_PROGRESS:
            return await self._join(connection)
        assert response.error_code == 0, response
        assert response.assignment.startswith(_ASSIGNMENT)
        (self.size,) = struct.unpack_from(">i", response.assignment, len(_ASSIGNMENT) + 4)
        self.generation = generation

    async def _stay(self, connection: Connection) -> bool:
        """Waits until it must rejoin (True) or leave (False)."""
        while not await self._pause():
            request = HeartbeatRequest(
                group_id=self._group.group_id,
                generation_id=self.generation,
                member_id=self.member_id,
            )
            response = await connection.request(request, 3)
            if response.error_code == REBALANCE_IN_PROGRESS:
                return True
            assert response.error_code == 0, response
        return False

    def _join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self._group.group_id,
            session_timeout_ms=30_000,
            rebalance_timeout_ms=60_000,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=self._group.subscription)],
        )

    def _sync_request(self, generation: int, members: list[Any]) -> SyncGroupRequest:
        """The leader assigns to each member the number of members."""
        assignment = _ASSIGNMENT + struct.pack(">ii", 4, len(members))
        return SyncGroupRequest(
            group_id=self._group.group_id,
            generation_id=generation,
            member_id=self.member_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=one.member_id, assignment=assignment)
                for one in members
            ],
        )


class ConsumerMember(Member):
    def __init__(self, group: Group) -> None:
        super().__init__(group)
        self.member_id = str(uuid.uuid4())
        self.epoch = 0
        self.owned: dict[bytes, list[int]] = {}

    async def live(self) -> None:
        connection = await Connection.open(self._group.address)
        try:
            await self._beat(connection, self._request(first=True))
            self._group.moved.set()
            while not await self._pause():
                await self._beat(connection, self._request())
                self._group.moved.set()
            self.epoch = -1
            await connection.request(self._request(), 0)
        finally:
            connection.close()

    async def _beat(self, connection: Connection, request: ConsumerGroupHeartbeatRequest) -> None:
        response = await connection.request(request, 0)
        assert response.error_code == 0, response
        self.member_id = response.member_id
        self.epoch = response.member_epoch
        if response.assignment is not None:
            assigned = response.assignment.topic_partitions
            self.owned = {one.topic_id: one.partitions for one in assigned}
            # Confirms new and revoked partitions at once, as an idle client would.
            await self._beat(connection, self._request(acknowledge=True))

    def _request(
        self, first: bool = False, acknowledge: bool = False
    ) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group.group_id, member_id=self.member_id, member_epoch=self.epoch
        )
        if first:
            request.member_id = ""
            request.rebalance_timeout_ms = 60_000
            request.subscribed_topic_names = [self._group.topic]
        if first or acknowledge:
            request.topic_partitions = [
                TopicPartitions(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in self.owned.items()
            ]
        return request

    @property
    def count(self) -> int:
        return sum(map(len, self.owned.values()))


class ClassicGroup(Group):
    member = ClassicMember

    def settled(self, members: list[Any]) -> bool:
        """All of them, and no others, have an assignment of one generation."""
        generations = {one.generation for one in members}
        return len(generations) == 1 and all(one.size == len(members) for one in members)


class ConsumerGroup(Group):
    member = ConsumerMember

    def settled(self, members: list[Any]) -> bool:
        """One epoch, every partition assigned, and counts that differ by one at most."""
        counts = [one.count for one in members]
        return (
            len({one.epoch for one in members}) == 1
            and sum(counts) == self.partitions
            and max(counts) - min(counts) <= 1
        )


async def measure(group: ClassicGroup | ConsumerGroup, count: int) -> dict[str, float]:
    members: list[Any] = []
    tasks: list[asyncio.Task[None]] = []

    def enter() -> None:
        members.append(group.member(group))
        tasks.append(asyncio.create_task(members[-1].live()))
        tasks[-1].add_done_callback(group.ended)

    async def settle() -> float:
        started = time.perf_counter()
        await group.until(lambda: group.settled(members))
        return (time.perf_counter() - started) * 1000

    for _ in range(count):
        enter()
    figures = {"formed_ms": await settle()}
    enter()
    figures["joined_ms"] = await settle()
    members.pop().leave()
    figures["left_ms"] = await settle()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("topic")
    parser.add_argument("protocol", choices=["classic", "consumer"])
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=100)
    options = parser.parse_args()

    async def run() -> dict[str, float]:
        kind = ClassicGroup if options.protocol == "classic" else ConsumerGroup
        group = kind(options.address, options.topic, options.partitions)
        return await measure(group, options.members)

    print(json.dumps(asyncio.run(run())))


if __name__ == "__main__":
    main()
