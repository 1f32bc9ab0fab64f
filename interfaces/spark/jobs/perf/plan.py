"""The plan of a run: the task of each producer and consumer, and when all begin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from interfaces.spark.jobs.perf.workload import Workload

MOST_PERIODS = 120


@dataclass(frozen=True)
class Timing:
    """In seconds of the wall clock, which the machines of a cluster must agree on."""

    start: float
    warm_up_s: float
    seconds: float
    #: The measured time is cut into so many, with rates and latencies for each.
    periods: int

    @property
    def counts_from(self) -> float:
        return self.start + self.warm_up_s

    @property
    def end(self) -> float:
        return self.counts_from + self.seconds

    @property
    def period_s(self) -> float:
        return self.seconds / self.periods

    def period(self, now: float) -> int:
        """-1 in the warm-up; `periods` after the end."""
        return int(self.periods_of(now))

    def periods_of(self, seconds: Any) -> Any:
        """As `period`, of an array of times."""
        import numpy

        found = numpy.floor((numpy.asarray(seconds) - self.counts_from) / self.period_s)
        return numpy.clip(found, -1, self.periods).astype(numpy.int64)


def periods_in(seconds: float) -> int:
    """Of about a second; longer ones where a report could not show all."""
    return min(max(1, round(seconds)), MOST_PERIODS)


@dataclass(frozen=True)
class ProducerTask:
    number: int
    topic: str
    partitions: int
    #: Records a second; 0 is as fast as possible.
    rate: float
    size: int
    keys: str


@dataclass(frozen=True)
class ConsumerTask:
    number: int
    subscription: str
    topic: str
    partitions: tuple[int, ...]
    #: Those that write to the topic, each with a last record in each partition.
    producers: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    #: Of one attempt: records of others are foreign.
    run: int
    producer_settings: dict[str, Any]
    consumer_settings: dict[str, Any]
    tasks: tuple[ProducerTask | ConsumerTask, ...]
    timing: Timing = field(default_factory=lambda: Timing(0.0, 0.0, 1.0, 1))
    #: Without a broker: how fast the generator is alone.
    into_nothing: bool = False
    #: How long no acknowledgement may come, and no record after the end.
    patience_s: float = 30.0
    servers: str = ""

    @property
    def producers(self) -> list[ProducerTask]:
        return [task for task in self.tasks if isinstance(task, ProducerTask)]

    @property
    def consumers(self) -> list[ConsumerTask]:
        return [task for task in self.tasks if isinstance(task, ConsumerTask)]

    def alone(self, seconds: float) -> Plan:
        """The producers of this plan as fast as possible, without a broker."""
        tasks = tuple(replace(task, rate=0.0) for task in self.producers)
        timing = Timing(0.0, 0.5, seconds, 1)
        return replace(self, tasks=tasks, timing=timing, into_nothing=True)


def tasks_of(workload: Workload, topics: list[str]) -> tuple[ProducerTask | ConsumerTask, ...]:
    rate = workload.producerRate / workload.producers
    partitions = workload.partitionsPerTopic
    producers = [
        ProducerTask(number, topic, partitions, rate, workload.messageSize, workload.keyDistributor)
        for number, topic in enumerate(
            topic for topic in topics for _ in range(workload.producersPerTopic)
        )
    ]
    consumers: list[ConsumerTask] = []
    members = workload.consumerPerSubscription
    for topic in topics:
        theirs = tuple(task.number for task in producers if task.topic == topic)
        for subscription in range(workload.subscriptionsPerTopic):
            name = f"{topic}/{subscription}"
            for member in range(min(members, partitions)):
                dealt = tuple(range(member, partitions, members))
                number = len(consumers)
                consumers.append(ConsumerTask(number, name, topic, dealt, theirs))
    return (*producers, *consumers)
