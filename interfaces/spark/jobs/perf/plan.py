"""Plan: which task does what, and when all of them begin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from interfaces.spark.jobs.perf.workload import Workload

MOST_PERIODS = 120


@dataclass(frozen=True)
class Timing:
    """On the wall clock, in seconds: machines that take part need to agree about it."""

    start: float
    warm_up_s: float
    seconds: float
    #: Rates are told for each of these; together they are the measured time.
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
        """-1 in the warm-up; after the end, how many periods there were."""
        return int(self.periods_of(now))

    def periods_of(self, seconds: Any) -> Any:
        """As `period`, of an array of times."""
        import numpy

        found = numpy.floor((numpy.asarray(seconds) - self.counts_from) / self.period_s)
        return numpy.clip(found, -1, self.periods).astype(numpy.int64)


def periods_in(seconds: float) -> int:
    """Of about a second, or longer where that were more than a report shows."""
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
    #: Those that end the partitions, each with a last record.
    producers: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    #: Of each attempt its own: by this it knows its records.
    run: int
    producer_settings: dict[str, Any]
    consumer_settings: dict[str, Any]
    tasks: tuple[ProducerTask | ConsumerTask, ...]
    timing: Timing = field(default_factory=lambda: Timing(0.0, 0.0, 1.0, 1))
    #: Records go nowhere: how fast the generator is alone.
    into_nothing: bool = False
    #: How long nothing may come from the broker after the end; in mid-run, how long it may be gone.
    patience_s: float = 30.0
    #: Where it is looked for.
    servers: str = ""

    @property
    def producers(self) -> list[ProducerTask]:
        return [task for task in self.tasks if isinstance(task, ProducerTask)]

    @property
    def consumers(self) -> list[ConsumerTask]:
        return [task for task in self.tasks if isinstance(task, ConsumerTask)]

    def alone(self, seconds: float) -> Plan:
        """The producers of this plan, as fast as they can, into nothing."""
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
