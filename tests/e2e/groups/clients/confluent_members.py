"""Consumers of confluent-kafka, a thread each."""

from __future__ import annotations

import queue
import struct
import sys
import threading
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tests.e2e.groups.clients.lines import emit, fields, places

PATIENCE_S = 30.0
MOST_AT_ONCE = 500


def configuration(settings: dict[str, str]) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "bootstrap.servers": settings["bootstrap"],
        "group.id": settings["group"],
        "auto.offset.reset": settings.get("reset", "earliest"),
        "enable.auto.commit": settings.get("commit", "auto") == "auto",
        "group.protocol": settings.get("protocol", "classic"),
        "topic.metadata.refresh.interval.ms": 500,
        "fetch.wait.max.ms": 100,
        "reconnect.backoff.max.ms": 200,
        "log_level": 0,
    }
    if "poll_ms" in settings:
        facts["max.poll.interval.ms"] = int(settings["poll_ms"])
    if "instance" in settings:
        facts["group.instance.id"] = settings["instance"]
    if facts["group.protocol"] == "consumer":
        if "assignor" in settings:
            facts["group.remote.assignor"] = settings["assignor"]
        return facts
    session_ms = int(settings.get("session_ms", "10000"))
    return facts | {
        "partition.assignment.strategy": settings.get("assignor", "range"),
        "session.timeout.ms": session_ms,
        "heartbeat.interval.ms": min(session_ms // 5, 500),
    }


class Member(threading.Thread):
    def __init__(self, settings: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self.member, self.settings = settings["member"], settings
        self.commands: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()
        self.held: set[tuple[str, int]] = set()
        self.left = False

    def run(self) -> None:
        try:
            self.consumer = Consumer(configuration(self.settings))
            self.consumer.subscribe(
                self.settings["topics"].split(","),
                on_assign=self.on_assign,
                on_revoke=self.on_revoke,
                on_lost=self.on_revoke,
            )
            emit(id=int(self.settings["id"]), result=None)
            while not self.left:
                self.obey_all()
                self.take()
        except BaseException as failure:
            emit(member=self.member, died=repr(failure))
            raise

    def on_assign(self, _: Consumer, gained: list[TopicPartition]) -> None:
        self.held |= {(place.topic, place.partition) for place in gained}
        self.tell_held()

    def on_revoke(self, _: Consumer, gone: list[TopicPartition]) -> None:
        self.held -= {(place.topic, place.partition) for place in gone}
        self.tell_held()

    def tell_held(self) -> None:
        emit(member=self.member, assigned=sorted(self.held), generation=self.generation())

    def generation(self) -> int:
        """The generation or member epoch; librdkafka returns it packed, in native byte order."""
        metadata: bytes = self.consumer.consumer_group_metadata()
        [number] = struct.unpack_from("=i", metadata, len(b"CGMDv2:"))
        return int(number)

    def obey_all(self) -> None:
        while not self.commands.empty():
            command = self.commands.get()
            try:
                self.obey(command)
            except KafkaException as refused:
                emit(id=int(command["id"]), error=refused.args[0].name())
            else:
                emit(id=int(command["id"]), result=None)

    def obey(self, command: dict[str, str]) -> None:
        if command["do"] == "leave":
            self.left = True
            # Rarely raised by the binding, after the member has left.
            with suppress(SystemError):
                self.consumer.close()
            return
        where = [TopicPartition(*place) for place in places(command["places"])]
        match command["do"]:
            case "commit":
                self.consumer.commit(offsets=where, asynchronous=False)
            case "seek":
                for place in where:
                    self.consumer.seek(place)
            case "pause":
                self.consumer.pause(where)
            case "resume":
                self.consumer.resume(where)
            case unknown:
                raise ValueError(unknown)

    def take(self) -> None:
        if self.left:
            return
        taken = self.polled()
        if taken:
            emit(member=self.member, records=[self.as_record(message) for message in taken])

    def polled(self) -> list[Message]:
        """Returns polled messages, also of partitions that were revoked meanwhile."""
        taken: list[Message] = []
        patience_s = 0.02
        while len(taken) < MOST_AT_ONCE:
            message = self.consumer.poll(patience_s)
            if message is None:
                break
            if message.error() is None:
                taken.append(message)
            else:
                emit(member=self.member, complaint=str(message.error()))
            patience_s = 0
        return taken

    @staticmethod
    def as_record(message: Message) -> tuple[Any, ...]:
        value = message.value()
        return message.topic(), message.partition(), message.offset(), (value or b"").decode()


def main(make: type[Member] = Member) -> None:
    members: dict[str, Member] = {}
    for line in sys.stdin:
        command = fields(line)
        if command["do"] == "join":
            members[command["member"]] = make(command)
            members[command["member"]].start()
        else:
            members[command["member"]].commands.put(command)


if __name__ == "__main__":
    main()
