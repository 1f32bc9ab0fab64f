from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench import stage
from tests.bench.brokers import Broker, BrokerFailed, Contender
from tests.bench.gauges import Figures
from tests.bench.runs import Load, LoadFailed, Runs, measure, medians
from tests.bench.stage import Stage
from tests.unit.bench.rows import row

pytestmark = pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="reads /proc")

SLEEPER = [sys.executable, "-c", "import time; print('last words', flush=True); time.sleep(60)"]


def contender(name: str) -> Contender:
    def start(folder: Path) -> Broker:
        with (folder / "output").open("wb") as output:
            process = subprocess.Popen(SLEEPER, stdout=output)
        return Broker(process, {"PLAINTEXT": "127.0.0.1:0"}, 0.0, folder)

    return Contender(name, start)


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(stage, "LEAST_FREE_BYTES", 0)
    contenders = [contender("ottla os"), contender("kafka os")]
    made = Stage(contenders, tmp_path, lambda contender, broker: None, lambda: None)
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


def test_brokers_take_turns_and_each_run_is_recorded_with_its_usage(two: Stage) -> None:
    runs = Runs()
    measure(runs, two, "produce", [Load("a", lambda broker: {"mb": 1.0})], rounds=2)
    assert [one["broker"] for one in runs.rows] == ["ottla os", "kafka os"] * 2
    assert all(one["figures"]["rss_anon_peak_mb"] > 0 for one in runs.rows)
    assert all(one["figures"]["cpu_s_per_gb"] >= 0 for one in runs.rows)


def test_a_failed_load_is_recorded_and_the_others_run(two: Stage) -> None:
    def refused(broker: Broker) -> Figures:
        if broker is two.broker("kafka os"):
            raise LoadFailed("refused")
        return {"mb": 1.0}

    runs = Runs()
    measure(runs, two, "p", [Load("a", refused), Load("b", lambda broker: {})], rounds=2)
    assert [(one["load"], one["broker"], "failed" in one) for one in runs.rows] == [
        ("a", "ottla os", False),
        ("a", "kafka os", True),
        ("a", "ottla os", False),
        ("b", "ottla os", False),
        ("b", "kafka os", False),
        ("b", "ottla os", False),
        ("b", "kafka os", False),
    ]


def test_a_broker_that_does_not_start_leaves_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(folder: Path) -> Broker:
        raise BrokerFailed("a busy port")

    monkeypatch.setattr(stage, "LEAST_FREE_BYTES", 0)
    contenders = [Contender("kafka os", start), contender("ottla os")]
    made = Stage(contenders, tmp_path, lambda contender, broker: None, lambda: None)
    runs = Runs()
    measure(runs, made, "p", [Load("a", lambda broker: {})], rounds=1)
    made.close()
    assert [(one["broker"], one.get("failed")) for one in runs.rows] == [
        ("kafka os", "BrokerFailed: a busy port"),
        ("ottla os", None),
    ]


def test_a_dead_broker_is_reported_with_its_last_output_and_restarted(two: Stage) -> None:
    def deadly(broker: Broker) -> Figures:
        # Not before it has printed something.
        while not broker.output():
            pass
        broker.kill()
        return {}

    runs = Runs()
    measure(runs, two, "p", [Load("a", deadly), Load("b", lambda broker: {})], rounds=1)
    assert ["failed" in one for one in runs.rows] == [True, True, False, False]
    assert "last words" in runs.rows[0]["failed"]


def test_a_broker_with_too_much_data_for_the_page_cache_is_replaced_by_an_empty_one(
    two: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = two.broker("ottla os")
    two.make_room()
    assert two.broker("ottla os") is before
    monkeypatch.setattr(stage, "MOST_DATA_BYTES", 0)
    two.make_room()
    assert two.broker("ottla os") is not before
    assert not before.alive()


def test_a_figure_is_the_median_of_the_runs_that_have_it() -> None:
    rows = [row("p", "a", "ottla os", x=float(value)) for value in (1, 9, 2)]
    rows += [
        row("p", "a", "ottla os", y=5.0),
        {"part": "p", "load": "a", "broker": "z", "failed": ""},
    ]
    assert medians(rows) == {"p": {"a": {"ottla os": {"x": 2.0, "y": 5.0}}}}
