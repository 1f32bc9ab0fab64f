"""Consumers of aiokafka, a task each."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError

from tests.e2e.groups.clients.lines import emit, fields, places

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


def consumer(settings: dict[str, str]) -> AIOKafkaConsumer:
    session_ms = int(settings.get("session_ms", "10000"))
    return AIOKafkaConsumer(
        bootstrap_servers=settings["bootstrap"],
        group_id=settings["group"],
        group_instance_id=settings.get("instance"),
        auto_offset_reset=settings.get("reset", "earliest"),
        enable_auto_commit=settings.get("commit", "auto") == "auto",
        partition_assignment_strategy=(ASSIGNORS[settings.get("assignor", "range")],),
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=min(session_ms // 5, 500),
        metadata_max_age_ms=500,
        fetch_max_wait_ms=100,
        retry_backoff_ms=50,
    )


class Member(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, settings: dict[str, str]) -> None:
        self.member, self.settings, self.consumer = settings["member"], settings, consumer(settings)

    def on_partitions_revoked(self, _: Collection[TopicPartition]) -> None:
        emit(member=self.member, assigned=[])

    def on_partitions_assigned(self, held: Collection[TopicPartition]) -> None:
        emit(member=self.member, assigned=sorted((place.topic, place.partition) for place in held))

    async def run(self) -> None:
        topics = self.settings["topics"].split(",")
        if topics[0].startswith("^"):
            self.consumer.subscribe(pattern=topics[0], listener=self)
        else:
            self.consumer.subscribe(topics, listener=self)
        await self.consumer.start()
        self.taking = asyncio.create_task(self.take())

    async def take(self) -> None:
        try:
            while True:
                taken = await self.consumer.getmany(timeout_ms=1_000)
                records = [record for some in taken.values() for record in some]
                if records:
                    rows = [(r.topic, r.partition, r.offset, r.value.decode()) for r in records]
                    emit(member=self.member, records=rows)
        except Exception as failure:
            emit(member=self.member, died=repr(failure))
            raise

    async def obey(self, command: dict[str, str]) -> None:
        if command["do"] == "leave":
            self.taking.cancel()
            await self.consumer.stop()
            return
        found = [(TopicPartition(t, p), offset) for t, p, offset in places(command["places"])]
        where = [place for place, _ in found]
        match command["do"]:
            case "commit":
                await self.consumer.commit(dict(found))
            case "seek":
                for place, offset in found:
                    self.consumer.seek(place, offset)
            case "pause":
                self.consumer.pause(*where)
            case "resume":
                self.consumer.resume(*where)
            case unknown:
                raise ValueError(unknown)


async def run_command(members: dict[str, Member], command: dict[str, str]) -> None:
    outcome: dict[str, Any] = {"result": None}
    try:
        if command["do"] == "join":
            members[command["member"]] = Member(command)
            await members[command["member"]].run()
        else:
            await members[command["member"]].obey(command)
    except KafkaError as refused:
        outcome = {"error": type(refused).__name__}
    emit(id=int(command["id"]), **outcome)


async def main() -> None:
    members: dict[str, Member] = {}
    loop, under_way = asyncio.get_running_loop(), set()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        task = asyncio.create_task(run_command(members, fields(line)))
        under_way.add(task)
        task.add_done_callback(under_way.discard)


if __name__ == "__main__":
    asyncio.run(main())
