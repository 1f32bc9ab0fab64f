"""Workload files of OpenMessaging's benchmarks, and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.spark.jobs.perf.workload import Workload, load
from interfaces.spark.query.failures import WrongOption

pytest.importorskip("yaml", reason="needs what Spark's extra brings")

# As in the files of OpenMessaging's benchmark.
SIMPLE = """
name: 1 topic / 16 partitions / 1Kb
topics: 1
partitionsPerTopic: 16
keyDistributor: "NO_KEY"
messageSize: 1024
payloadFile: "payload/payload-1Kb.data"
subscriptionsPerTopic: 1
consumerPerSubscription: 1
producersPerTopic: 1
producerRate: 50000
consumerBacklogSizeGB: 0
testDurationMinutes: 15
"""


def written(tmp_path: Path, text: str) -> str:
    file = tmp_path / "workload.yaml"
    file.write_text(text)
    return str(file)


def test_a_file_of_openmessaging_is_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workload = load(written(tmp_path, SIMPLE))
    assert capsys.readouterr().err.startswith("ottla: payloadFile is ignored")
    assert workload.name == "1 topic / 16 partitions / 1Kb"
    assert (workload.partitionsPerTopic, workload.producerRate) == (16, 50000)
    assert workload.seconds == 900


def test_the_command_line_wins(tmp_path: Path) -> None:
    workload = load(written(tmp_path, SIMPLE), producerRate=0.0, topics=None, messageSize=100)
    assert (workload.producerRate, workload.topics, workload.messageSize) == (0, 1, 100)


@pytest.mark.parametrize("rate", ["1e6", "1.0e+6", "1000000", '"1e6"'])
def test_a_rate_is_a_number_in_any_notation(tmp_path: Path, rate: str) -> None:
    assert load(written(tmp_path, f"producerRate: {rate}")).producerRate == 1_000_000


@pytest.mark.parametrize("rate", [".nan", ".inf", "-.inf", "many", "true", "[1]"])
def test_other_rates_are_refused(tmp_path: Path, rate: str) -> None:
    with pytest.raises(WrongOption, match=r"^producerRate: .* is not a number$"):
        load(written(tmp_path, f"producerRate: {rate}"))


def test_the_default_name_describes_the_workload() -> None:
    assert load(None).name == "1 topic, 4 partitions, 1024 bytes, as fast as possible"
    assert Workload(topics=2, producerRate=500).name == "2 topics, 4 partitions, 1024 bytes, 500/s"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "partitions: 4",
            "unknown parameter 'partitions' of a workload (did you mean partitionsPerTopic?)",
        ),
        ("topics: many", "topics: 'many' is not a whole number"),
        ("topics: true", "topics: True is not a whole number"),
        ("topics: 0", "topics: 0 is less than 1"),
        ("messageSize: 10", "messageSize: 10 is less than 28"),
        (
            "keyDistributor: ANY",
            "keyDistributor: 'ANY' is none of NO_KEY, KEY_ROUND_ROBIN, RANDOM_NANO, ZIPF",
        ),
        ("producer: fast", "producer: 'fast' is not a mapping"),
        ("testDurationMinutes: 0", "testDurationMinutes: 0 is not above 0 and up to a day"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(WrongOption) as refusal:
        load(written(tmp_path, text))
    assert str(refusal.value) == line


@pytest.mark.parametrize("text", ["[1, 2]", "a: b: c", "\x00", "7: 8"])
def test_a_file_without_a_workload_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(WrongOption, match=r"workload\.yaml is no (YAML|workload): ") as refusal:
        load(written(tmp_path, text))
    assert "\n" not in str(refusal.value)


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongOption, match=r"cannot be read: No such file or directory$"):
        load(str(tmp_path / "nowhere.yaml"))


def test_a_result_has_the_settings_of_clients_without_secrets() -> None:
    settings = {"linger.ms": 5, "sasl.username": "ann", "sasl.password": "PaSs", "ssl.key.pem": "K"}
    workload = Workload(producer=settings, consumer={"ssl.key.password": "PaSs"})
    shown = workload.to_json()
    assert shown["producer"]["linger.ms"] == 5
    assert shown["producer"]["sasl.username"] == "ann"
    assert "PaSs" not in str(shown)
    assert "'K'" not in str(shown)
    assert workload.producer == settings
