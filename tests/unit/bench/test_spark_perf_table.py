"""The table of `ottla spark perf` against several brokers, by turns."""

from __future__ import annotations

from typing import Any

from tests.bench.spark_perf import KAFKA, Run, by_turns, table

CALLED = {KAFKA: "Apache Kafka 4.2.0", "ottla os": "Ottla, flush = os"}


def result(rate: float, p99: float = 250.4) -> dict[str, Any]:
    return {
        "meanPublishRate": rate,
        "publishMBps": rate / 1000,
        "aggregatedPublishLatency50pct": 1.2345,
        "aggregatedPublishLatency99pct": p99,
        "aggregatedEndToEndLatency50pct": 2.0,
        "aggregatedEndToEndLatency99pct": 1234.5,
    }


def test_a_ratio_is_of_a_round_and_not_of_the_medians() -> None:
    rates = {KAFKA: (100.0, 400.0, 200.0), "ottla os": (200.0, 200.0, 200.0)}
    runs = [
        Run(1024, name, result(of[number])) for number in range(3) for name, of in rates.items()
    ]
    assert table(runs, CALLED)[2:] == [
        "| 1,024 B | Apache Kafka 4.2.0 | 200/s | 0.2 MB/s | 1.23 / 250 ms | 2 / 1,234 ms |  |",
        "| 1,024 B | Ottla, flush = os | 200/s | 0.2 MB/s | 1.23 / 250 ms | 2 / 1,234 ms "
        "| 1.00 x (0.50-2.00) |",
    ]


def test_a_failed_run_has_a_row_and_no_ratio() -> None:
    for runs, rows in (
        ([Run(100, KAFKA, result(1e6)), Run(100, "ottla os", None)], ["", "-"]),
        ([Run(100, KAFKA, None), Run(100, "ottla os", result(1e6))], ["", "-"]),
    ):
        lines = table(runs, CALLED)[2:]
        assert [line.split(" | ")[-1].strip(" |") for line in lines] == rows
        assert sum("| failed |" in line for line in lines) == 1


def test_each_broker_is_the_first_in_its_turn() -> None:
    names = ["a", "b", "c"]
    assert [by_turns(names, done)[0] for done in (0, 3, 6, 9)] == ["a", "b", "c", "a"]
    assert by_turns(names, 3) == ["b", "c", "a"]
