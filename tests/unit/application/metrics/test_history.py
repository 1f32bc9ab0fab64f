from __future__ import annotations

from math import isnan
from typing import Any

import pytest

from application.metrics.families.request_counts import RequestCounts
from application.metrics.history import INTERVAL_MS, MOST_GROUPS, MOST_TOPICS, SAMPLES
from domain.cluster.nodes import Leader
from tests.fakes.admin import FakeAdmin
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import persist_offsets

#: Its seconds, as rates are per second.
SECONDS = INTERVAL_MS / 1000


class Sampled:
    """A broker whose history runs with its clock."""

    def __init__(self) -> None:
        self.fake = FakeBroker()
        self.fake.topic("t", 2)
        self.admin = FakeAdmin(self.fake)
        self.history = self.admin.history
        self.history.start()
        #: The first interval ends here.
        self.started_ms = self.fake.clock.now_ms()

    def produce(self, topic: str, *values: str, index: int = 0) -> int:
        batch = record_batch(list(values))
        self.fake.appended(batch, topic, index)
        return len(batch)

    def pass_samples(self, count: int = 1) -> None:
        # A job pauses after each slice.
        self.fake.scheduler.advance(count * (INTERVAL_MS + 10))

    def rates(self, topic: str) -> list[Any]:
        return [row[1:] for row in self.history.topic(topic)]

    def lags(self, group_id: str) -> list[float]:
        return [lag for _, lag in self.history.group(group_id)]


@pytest.fixture
def sampled() -> Sampled:
    return Sampled()


def test_a_sample_has_the_rates_of_its_interval(sampled: Sampled) -> None:
    size_bytes = sampled.produce("t", "a", "b") + sampled.produce("t", "c", index=1)
    sampled.fake.partition("t").traffic.bytes_out += 500
    counts = RequestCounts()
    counts.bytes_in, counts.bytes_out = 1000, 2000
    counts.total.add(3_000_000)
    counts.errors.update([3])
    sampled.admin.counted.append(("Produce", 9, counts))
    sampled.admin.commits.add(5_000_000)
    sampled.pass_samples()
    [(at_ms, *row)] = sampled.history.broker()
    assert at_ms == sampled.started_ms + INTERVAL_MS
    rates, (p50, p99, commit_p50, _, *gauges) = row[:5], row[5:]
    assert rates == [3 / SECONDS, 1 / SECONDS, 1 / SECONDS, 1000 / SECONDS, 2000 / SECONDS]
    assert p50 == pytest.approx(3000, rel=0.4)  # a bucket is twice as wide as the one before
    assert p99 >= p50
    assert commit_p50 == pytest.approx(5000, rel=0.4)
    assert gauges[:2] == [0, 4096]
    assert sampled.rates("t") == [(3 / SECONDS, size_bytes / SECONDS, 500 / SECONDS)]


def test_an_interval_without_traffic_is_zero_and_has_no_latency(sampled: Sampled) -> None:
    sampled.produce("t", "a")
    sampled.pass_samples(2)
    assert sampled.rates("t")[1] == (0, 0, 0)
    _, (_, *row) = sampled.history.broker()
    assert row[:5] == [0] * 5
    assert all(isnan(quantile) for quantile in row[5:9])


def test_records_from_before_the_load_of_a_partition_are_no_rate(sampled: Sampled) -> None:
    sampled.produce("t", "a", "b", "c")
    partition_id = sampled.fake.partition("t").partition_id
    sampled.pass_samples()
    for node_id in (2, 1):
        sampled.fake.placement.move(partition_id, Leader(node_id, node_id))
    sampled.produce("t", "d", "e")
    sampled.pass_samples()
    assert [messages_in for messages_in, *_ in sampled.rates("t")] == [3 / SECONDS, 2 / SECONDS]


def test_the_history_is_one_hour_and_a_topic_without_traffic_leaves_it(sampled: Sampled) -> None:
    sampled.produce("t", "a")
    sampled.pass_samples(SAMPLES)
    assert len(sampled.rates("t")) == SAMPLES
    assert sampled.rates("t")[0][0] == 1 / SECONDS
    sampled.pass_samples(2)
    assert len(list(sampled.history.broker())) == SAMPLES
    assert sampled.rates("t") == []


def test_a_deleted_topic_leaves_the_history_and_a_new_one_starts_its_own(sampled: Sampled) -> None:
    sampled.produce("t", "a", "b")
    sampled.pass_samples()
    sampled.fake.broker.catalog.remove(sampled.fake.existing("t"))
    sampled.pass_samples()
    assert sampled.rates("t") == []


def test_a_group_has_its_lag_once_all_its_partitions_are_loaded(sampled: Sampled) -> None:
    sampled.produce("t", "a", "b", "c")
    persist_offsets(sampled.fake, "g", "t", 0, offset=1)
    persist_offsets(sampled.fake, "g", "t", 1, offset=0)
    persist_offsets(sampled.fake, "g", "t", 9, offset=4)  # of no partition
    sampled.pass_samples()
    assert isnan(sampled.lags("g")[0])
    sampled.fake.partition("t", 1)
    sampled.pass_samples()
    persist_offsets(sampled.fake, "g", "t", 0, offset=3)
    sampled.pass_samples()
    assert sampled.lags("g")[1:] == [2, 0]


def test_topics_and_groups_are_limited_and_the_broker_counts_all_topics(sampled: Sampled) -> None:
    for number in range(MOST_TOPICS + 1):
        sampled.fake.topic(f"t{number}")
        sampled.produce(f"t{number}", "a")
    for number in range(MOST_GROUPS + 1):
        persist_offsets(sampled.fake, f"g{number}", "t0", 0, offset=0)
    sampled.pass_samples()
    assert sum(bool(sampled.rates(f"t{n}")) for n in range(MOST_TOPICS + 1)) == MOST_TOPICS
    assert sum(bool(sampled.lags(f"g{n}")) for n in range(MOST_GROUPS + 1)) == MOST_GROUPS
    [(_, messages_in, *_)] = sampled.history.broker()
    assert messages_in == (MOST_TOPICS + 1) / SECONDS
