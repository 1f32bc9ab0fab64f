"""What scripts/bench measures with, against a broker: that it counts what happens."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.bench.clients.meter import WARM_UP, measure, waits_s
from tests.e2e.broker_process import ROOT
from tests.e2e.conftest import Broker, CreateTopic


@pytest.fixture
def broker(one_broker: Broker) -> Broker:
    return one_broker


@pytest.mark.parametrize("per_second", [0, 2000])
def test_the_meter_counts_each_record_that_arrived(
    broker: Broker, create_topic: CreateTopic, per_second: float
) -> None:
    topic = create_topic()
    host, _, port = broker.bootstrap.rpartition(":")
    figures = measure(host, int(port), topic, 50, per_second)
    assert 0 < figures["p50_us"] <= figures["p99_us"] <= figures["max_us"]
    with broker.connect() as client:
        assert client.end_offset(topic) == WARM_UP + 50 + 2


def test_scripts_bench_needs_no_packages_of_tests() -> None:
    imported = "import sys; sys.modules['pytest'] = None; import tests.bench.__main__"
    subprocess.run([sys.executable, "-c", imported], cwd=ROOT, check=True)


def test_the_pace_has_the_requested_mean_and_no_steps() -> None:
    waits = list(waits_s(4000, 500))
    assert sum(waits) / len(waits) == pytest.approx(1 / 500, rel=0.05)
    assert len(set(waits)) > 3000


def test_pings_are_counted_until_the_load_is_over(
    broker: Broker, create_topic: CreateTopic
) -> None:
    command = [sys.executable, "-m", "tests.bench.clients.ping", broker.bootstrap, create_topic()]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as ping:
        with broker.connect() as client:
            for _ in range(300):
                client.api_versions()
        output, _ = ping.communicate("", timeout=30)
    figures = json.loads(output)
    assert ping.returncode == 0
    assert 0 < figures["ping_p50_us"] <= figures["ping_max_us"]
