"""The pytest plugin, in the process of a user's own pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT

FIXTURES = """
import pytest
from confluent_kafka import Consumer, Producer


@pytest.fixture(scope="session")
def producer(ottla_broker):
    return Producer({"bootstrap.servers": ottla_broker.bootstrap_servers})


def test_a_topic_is_new(ottla_topic, producer, ottla_broker):
    assert ottla_topic.startswith("test_a_topic_is_new-")
    producer.produce(ottla_topic, b"coffee")
    assert producer.flush(20) == 0
    [record] = ottla_broker.wait_for_records(ottla_topic, 1)
    assert record.value == b"coffee"


@pytest.mark.parametrize("name", ["a/b", "a/b "])
@pytest.mark.ottla(partitions=3, configs={"max.message.bytes": 5000})
def test_a_marker_configures_the_topic(name, ottla_topic, ottla_admin):
    assert list(ottla_admin.offsets(ottla_topic)) == [0, 1, 2]
    assert ottla_admin.configs(ottla_topic)["max.message.bytes"] == "5000"
    assert len(ottla_admin.topics()) == 1, "topics are deleted after their test"


@pytest.mark.ottla(settings={"num.partitions": 4, "auto.create.topics.enable": True})
class TestSettings:
    brokers = set()

    def test_a_marker_sets_settings(self, ottla_broker, producer):
        self.brokers.add(ottla_broker.bootstrap_servers)
        assert len(producer.list_topics("orders", 20).topics["orders"].partitions) == 4

    @pytest.mark.ottla(partitions=2)
    def test_options_of_all_markers_apply(self, ottla_broker, ottla_admin, ottla_topic):
        self.brokers.add(ottla_broker.bootstrap_servers)
        assert len(ottla_admin.offsets(ottla_topic)) == 2
        assert len(ottla_admin.offsets("orders")) == 4
        assert len(self.brokers) == 1


def test_tests_without_settings_have_another_broker(ottla_broker, ottla_admin):
    assert ottla_admin.topics() == []
    assert ottla_broker.bootstrap_servers not in TestSettings.brokers


def test_a_failure_comes_with_the_log(ottla_admin, producer):
    producer.list_topics("unheard-of", 20)
    assert not ottla_admin.topics()


@pytest.mark.ottla(settings={"num.partition": 3})
def test_a_broker_that_does_not_start(ottla_broker):
    pass


@pytest.mark.ottla(settings={"admin.listeners": "off"})
def test_a_broker_without_rest(ottla_broker):
    pass
"""


def pytest_in(folder: Path, tests: str, *options: str, **environment: str) -> str:
    (folder / "test_it.py").write_text(tests, "utf-8")
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *options]
    command += ["-p", "interfaces.embed.pytest_plugin"]
    environment |= os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return ended.stdout + ended.stderr


def test_fixtures_and_the_marker(tmp_path: Path) -> None:
    output = pytest_in(tmp_path, FIXTURES, "--strict-markers", "-W", "error")
    assert "1 failed, 6 passed, 2 errors" in output, output
    failure = output[output.index("log of the broker") :]
    assert re.search(r'"event":"topic_created","topic":"unheard-of"', failure)
    assert re.search(
        r"last requests of the broker -*\n(.*\n)*.*Metadata v\d+  unheard-of  \d+ us", failure
    )
    assert "TestSettings" not in failure.partition("\n====")[0]
    assert "GET /topics  " in failure and "vNone" not in failure
    assert (
        "ended with 2:\nottla: unknown setting num.partition (did you mean num.partitions?)"
        in output
    )
    assert "the broker does not serve REST: this broker has no REST" in output
    assert "Traceback" not in output


@pytest.mark.long
def test_workers_of_xdist_have_brokers_of_their_own(tmp_path: Path) -> None:
    tests = (
        "import os, pathlib, pytest\n"
        "@pytest.mark.parametrize('n', range(4))\n"
        "def test_it(n, ottla_broker):\n"
        "    worker = os.environ['PYTEST_XDIST_WORKER']\n"
        "    pathlib.Path(f'{worker} {ottla_broker.pid}').touch()\n"
    )
    output = pytest_in(tmp_path, tests, "-p", "xdist", "-n", "2")
    assert "4 passed" in output, output
    used = [path.name.split() for path in tmp_path.glob("gw*")]
    assert len({worker for worker, _ in used}) == len({pid for _, pid in used}) == len(used) == 2


def test_a_broker_starts_before_its_first_test_and_only_for_those_that_run(tmp_path: Path) -> None:
    (tmp_path / "ottla").write_text("#!/bin/sh\necho > started\n", "utf-8")
    (tmp_path / "ottla").chmod(0o755)
    tests = (
        "import pathlib, time\n"
        "def test_before():\n"
        "    while not pathlib.Path('started').exists(): time.sleep(0.01)\n"
        "def test_of_a_broker(ottla_broker): pass\n"
    )
    for options in (["--collect-only"], ["-k", "test_nothing"]):
        pytest_in(tmp_path, tests, *options, OTTLA_EXECUTABLE=str(tmp_path / "ottla"))
        assert not (tmp_path / "started").exists()
    output = pytest_in(tmp_path, tests, OTTLA_EXECUTABLE=str(tmp_path / "ottla"))
    assert "1 passed, 1 error" in output, output


@pytest.mark.parametrize(
    "options, named", [("partition=3", "partition"), pytest.param("3", "3", marks=pytest.mark.long)]
)
def test_an_unknown_option_of_the_marker_is_an_error(
    options: str, named: str, tmp_path: Path
) -> None:
    tests = f"import pytest\n@pytest.mark.ottla({options})\ndef test_it(ottla_topic): pass\n"
    assert f"test_it.py::test_it: mark.ottla has no option {named}" in pytest_in(tmp_path, tests)
