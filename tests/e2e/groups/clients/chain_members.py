"""Consumers of confluent-kafka that forward records, and commit those that are acknowledged.

One link of a chain: `onward` names the next topic. Members of a process share one producer.
"""

from __future__ import annotations

import threading
import time

from confluent_kafka import (
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.e2e.groups.clients import confluent_members
from tests.e2e.groups.clients.confluent_members import PATIENCE_S
from tests.e2e.groups.clients.lines import emit


class Member(confluent_members.Member):
    producer: Producer | None = None
    making = threading.Lock()

    def take(self) -> None:
        if self.left:
            return
        taken = [one for one in self.polled() if (one.topic(), one.partition()) in self.held]
        if taken:
            self.pass_on(taken)
            self.commit_after(taken)

    def pass_on(self, taken: list[Message]) -> None:
        """Produces them to the next topic, and waits for all reports."""
        producer, reports = self.shared_producer(), list[KafkaError | None]()

        def report(error: KafkaError | None, _: Message) -> None:
            reports.append(error)

        for message in taken:
            value = message.value()
            producer.produce(self.settings["onward"], value, key=value, on_delivery=report)
        deadline = time.monotonic() + PATIENCE_S
        while len(reports) < len(taken):
            producer.poll(0.05)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(taken) - len(reports)} messages without a report")
        if failed := [error for error in reports if error]:
            raise KafkaException(failed[0])

    def commit_after(self, taken: list[Message]) -> None:
        next_offsets = {
            (message.topic(), message.partition()): (message.offset() or 0) + 1 for message in taken
        }
        where = [TopicPartition(str(t), int(p or 0), o) for (t, p), o in next_offsets.items()]
        try:
            done = self.consumer.commit(offsets=where, asynchronous=False) or []
        except KafkaException as refused:
            # It may have been fenced: its records will be read again.
            emit(member=self.member, complaint=refused.args[0].name())
            return
        for place in done:
            if place.error is not None:
                emit(member=self.member, complaint=place.error.name())

    def shared_producer(self) -> Producer:
        with self.making:
            if Member.producer is None:
                Member.producer = Producer(
                    {
                        "bootstrap.servers": self.settings["bootstrap"],
                        "enable.idempotence": True,
                        "linger.ms": 1,
                        "log_level": 0,
                    }
                )
        return Member.producer


if __name__ == "__main__":
    confluent_members.main(Member)
