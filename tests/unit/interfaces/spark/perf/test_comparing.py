"""Comparing two runs of the same workload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interfaces.spark.jobs.perf.comparing import compare, load_result
from interfaces.spark.jobs.perf.workload import Workload
from interfaces.spark.query.failures import WrongOption

RUN: dict[str, Any] = {
    "settings": Workload(producerRate=10.0).to_json(),
    "meanPublishRate": 1000.0, "meanConsumeRate": 1000.0,
    "aggregatedPublishLatency50pct": 2.0, "aggregatedPublishLatency99pct": 4.0,
    "aggregatedEndToEndLatency50pct": 3.0, "aggregatedEndToEndLatency99pct": 6.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "worse"),
    [
        ({}, []),
        ({"meanPublishRate": 901.0}, []),
        ({"meanPublishRate": 899.0}, ["published records/s"]),
        ({"meanPublishRate": 2000.0}, []),
        ({"aggregatedEndToEndLatency99pct": 6.7}, ["end-to-end latency p99, ms"]),
        ({"aggregatedEndToEndLatency99pct": 0.1}, []),
    ],
)
def test_lower_rates_and_higher_latencies_are_worse(
    change: dict[str, float], worse: list[str]
) -> None:
    compared = compare(RUN, {**RUN, **change}, threshold=0.1)
    assert [each.name for each in compared if each.is_worse] == worse
    assert [each.name for each in compared if "WORSE" in each.line()] == worse


@pytest.mark.parametrize(
    ("workload", "line"),
    [
        (Workload(producerRate=10.0, partitionsPerTopic=8), "partitionsPerTopic was 4 and is 8"),
        (Workload(), "producerRate was 10.0 and is 0.0"),
        (
            Workload(producerRate=10.0, producer={"acks": 1}),
            r"producer was \{\} and is \{'acks': 1\}",
        ),
    ],
)
def test_a_result_of_another_workload_is_refused(
    workload: Workload, line: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongOption, match=f" is of another workload: {line}$"):
        load_result(written(tmp_path, json.dumps(RUN)), workload)


def test_a_result_of_a_longer_run_is_accepted(tmp_path: Path) -> None:
    longer = Workload(name="again", producerRate=10, testDurationMinutes=5.0)
    assert load_result(written(tmp_path, json.dumps(RUN)), longer) == RUN


def written(tmp_path: Path, text: str) -> str:
    (tmp_path / "result.json").write_text(text)
    return str(tmp_path / "result.json")


NO_NUMBER = json.dumps({**RUN, "meanConsumeRate": "many"})
NO_FIELD = json.dumps({name: each for name, each in RUN.items() if "99pct" not in name})


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"a": 1', NO_NUMBER, NO_FIELD])
def test_a_file_without_a_result_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(WrongOption, match=r"result\.json is no result of"):
        load_result(written(tmp_path, text), Workload())
    with pytest.raises(WrongOption, match=r"nowhere\.json cannot be read: "):
        load_result(str(tmp_path / "nowhere.json"), Workload())
