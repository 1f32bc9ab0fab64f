from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import yaml

from tests.e2e.admin.cli.conftest import Ottla, create_filled
from tests.e2e.broker_process import BrokerProcess


def test_topics_are_created_described_and_deleted(ottla: Ottla, name: str) -> None:
    assert ottla.run("topic", "create", name, "--dry-run").code == 0
    assert ottla.run("topic", "list", f"^{name}").rows == []
    other = f"{name}-2"
    created = ottla.run("topic", "create", name, other, "-p", "3", "-c", "preallocate=true")
    assert (len(created.lines), created.errors.count("preallocate")) == (2, 1)
    assert [name, "3", "1"] in ottla.run("topic", "list").rows
    listed = json.loads(ottla.run("topic", "list", f"^{name}", "-o", "json").out)
    assert listed == [{"name": n, "partitions": 3, "replicas": 1} for n in (name, other)]

    [described] = yaml.safe_load(ottla.run("topic", "describe", name, "-o", "yaml").out)
    assert described["configs"]["preallocate"] == "true"
    assert len(described["warnings"]) == 1
    names = ("partition", "leader", "leader_epoch", "end_offset")
    rows = [tuple(one[name] for name in names) for one in described["partitions"]]
    assert rows == [(number, 1, 0, 0) for number in range(3)]

    assert "TOPIC_ALREADY_EXISTS" in ottla.run("topic", "create", name, code=1).errors
    ottla.run("topic", "create", name, "--if-not-exists")
    ottla.run("topic", "delete", name, other)
    assert ottla.run("topic", "list", f"^{name}").rows == []
    for command in ("describe", "delete"):
        assert ottla.run("topic", command, name, code=1).errors.count("\n") == 1
    ottla.run("topic", "create", name)
    for arguments in (("topic", "describe"), ("topic", "delete", "-y"), ("consume",), ("offsets",)):
        missing = ottla.run(*arguments, f"{name}x", code=1)
        assert f"did you mean {name}?" in missing.errors
    ottla.run("topic", "delete", name)
    ottla.run("topic", "delete", name, "--if-exists")


def test_a_described_topic_has_its_retention_and_its_oldest_record(ottla: Ottla, name: str) -> None:
    configs = ("retention.ms=9000000", "retention.bytes=5000", "cleanup.policy=compact,delete")
    ottla.run("topic", "create", name, *(word for one in configs for word in ("-c", one)))
    out = ottla.run("topic", "describe", name).out
    assert "RETENTION   2h 30m, 5000 bytes, the" in out
    assert "COMPACTION  when more than 50% is dirty" in out
    ottla.run("produce", name, "-k", "k", stdin=b"a")
    [described] = json.loads(ottla.run("topic", "describe", name, "-o", "json").out)
    retention = described["retention"]
    assert (retention["ms"], retention["bytes"]) == (9_000_000, 5000)
    assert 0 < retention["largest_partition"] < 200
    oldest, expires = (
        datetime.fromisoformat(retention[key]) for key in ("oldest_timestamp", "expires_at")
    )
    assert expires - oldest == timedelta(hours=2, minutes=30)
    ottla.run("topic", "trim", name, "-o", "end")
    ottla.run("topic", "config", "set", name, "message.timestamp.after.max.ms=9223372036854775807")
    ottla.run("produce", name, "-k", "k", "-T", "@2100-01-01", stdin=b"a")
    assert "OLDEST      2100-01-01T00:00:00.000Z" in (
        out := ottla.run("topic", "describe", name).out
    )
    assert "Z (in the future: retains the records behind it)" in out


def test_a_config_without_effect_is_named_in_a_warning(ottla: Ottla, name: str) -> None:
    def warnings(*arguments: str) -> list[str]:
        return [line.split()[1] for line in ottla.run("topic", *arguments).errors.splitlines()]

    configs = ("preallocate=true", "cleanup.policy=compact", "retention.ms=5")
    options = [word for config in configs for word in ("-c", config)]
    assert warnings("create", name, "--dry-run", *options) == ["preallocate"]
    ottla.run("topic", "create", name)
    two = ("preallocate=true", "flush.ms=1")
    assert warnings("config", "set", name, *two, "--dry-run") == ["preallocate", "flush.ms"]
    assert warnings("config", "set", name, "preallocate=false") == []


def test_configs_are_set_and_unset(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    two = ("retention.ms=77", "segment.bytes=1048576")
    ottla.run("topic", "config", "set", name, *two, "--dry-run")
    assert ottla.run("topic", "config", "get", name, "--set-only").rows == []
    ottla.run("topic", "config", "set", name, *two)
    assert [row[:3] for row in ottla.run("topic", "config", "get", name, "--set-only").rows] == [
        ["retention.ms", "77", "topic"],
        ["segment.bytes", "1048576", "topic"],
    ]
    ottla.run("topic", "config", "unset", name, "retention.ms")
    [row] = json.loads(ottla.run("topic", "config", "get", name, "retention.ms", "-o", "json").out)
    assert (row["value"], row["source"], row["effect"]) == ("604800000", "default", "yes")
    misspelt = ("retention.mss=1", "(did you mean retention.ms?)")
    for words in (("create", "x", "-c"), ("config", "set", name)):
        assert misspelt[1] in ottla.run("topic", *words, misspelt[0], code=1).errors
    for command, config in (("set", "nosuch=1"), ("get", "nosuch")):
        assert "nosuch" in ottla.run("topic", "config", command, name, config, code=1).errors


@pytest.fixture
def filled(cli_broker: BrokerProcess, name: str) -> str:
    """Ten records in the first of two partitions, one in the second."""
    create_filled(cli_broker, name, [b"%d" % number for number in range(10)], [b"other"])
    return name


def offsets(ottla: Ottla, name: str) -> list[list[str]]:
    return [row[2:] for row in ottla.run("offsets", name).rows]


def test_the_oldest_records_are_deleted(ottla: Ottla, filled: str) -> None:
    ottla.run("topic", "trim", filled, "-o", "-3", "-p", "0", "--dry-run")
    assert offsets(ottla, filled) == [["0", "10"], ["0", "1"]]
    ottla.run("topic", "trim", filled, "-o", "-3", "-p", "0")
    assert offsets(ottla, filled) == [["7", "10"], ["0", "1"]]
    assert ottla.run("consume", filled, "-p", "0", "-e").lines == ["7", "8", "9"]
    ottla.run("topic", "trim", filled, "-o", "end")
    assert ottla.run("consume", filled, "-e").lines == []
    ottla.run("topic", "trim", filled, "-o", "1")
    assert offsets(ottla, filled) == [["10", "10"], ["1", "1"]]


def test_an_offset_beyond_the_end_deletes_nothing(ottla: Ottla, filled: str) -> None:
    for beyond in (("2",), ("+2",), ("2", "--dry-run"), ("end", "-p", "1,7")):
        ottla.run("topic", "trim", filled, "-o", *beyond, code=1)
    assert offsets(ottla, filled) == [["0", "10"], ["0", "1"]]


def test_records_of_a_compacted_topic_are_not_deleted(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name, "-c", "cleanup.policy=compact")
    for options in ((), ("--dry-run",)):
        refused = ottla.run("topic", "trim", name, "-o", "end", *options, code=1).errors
        assert f"{name} has cleanup.policy=compact; " in refused


def test_partitions_are_added(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    for options, count in ((("--dry-run",), 1), ((), 4)):
        ottla.run("topic", "add-partitions", name, "-n", "3", *options)
        assert [name, str(count), "1"] in ottla.run("topic", "list").rows
    assert name in ottla.run("topic", "add-partitions", f"{name}-2", "-n", "1", code=1).errors


def test_topics_are_listed_with_offsets_and_sizes(ottla: Ottla, filled: str) -> None:
    ottla.run("topic", "trim-prefix", filled, "-o", "4", "-p", "0")
    [row] = json.loads(ottla.run("topic", "list", f"^{filled}$", "-d", "-o", "json").out)
    disk = json.loads(ottla.run("cluster", "logdirs", filled, "-o", "json").out)
    assert [(one["broker"], one["topic"], one["partition"]) for one in disk] == [
        (1, filled, 0),
        (1, filled, 1),
    ]
    assert (row["offsets"], row["size"]) == (7, sum(one["size"] for one in disk))
    assert row["size"] > 0


def test_a_topic_is_cloned(ottla: Ottla, filled: str) -> None:
    ottla.run("topic", "config", "set", filled, "max.message.bytes=77777")
    copy = f"{filled}-2"
    ottla.run("topic", "clone", filled, copy, "-c", "retention.ms=5")
    form = r"%p %k %v %T %h\n"
    printed = [ottla.run("consume", one, "-e", "-f", form).lines for one in (filled, copy)]
    assert (sorted(printed[0]), len(printed[0])) == (sorted(printed[1]), 11)
    [described] = json.loads(ottla.run("topic", "describe", copy, "-o", "json").out)
    assert described["configs"] == {"max.message.bytes": "77777", "retention.ms": "5"}
    assert "TOPIC_ALREADY_EXISTS" in ottla.run("topic", "clone", filled, copy, code=1).errors


def test_a_clone_that_fails_is_deleted(ottla: Ottla, filled: str) -> None:
    config = ("-c", "cleanup.policy=compact")  # records without keys are refused
    assert "refused" in ottla.run("topic", "clone", filled, f"{filled}-2", *config, code=1).errors
    assert ottla.run("topic", "list", f"^{filled}").rows == [[filled, "2", "1"]]


def test_a_topic_is_downloaded_and_tailed(ottla: Ottla, filled: str, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    ottla.run("topic", "download", filled, str(file), "-p", "0", "--grep", "[789]")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(one["offset"], one["value"]) for one in lines] == [(7, "7"), (8, "8"), (9, "9")]
    assert "exists" in ottla.run("topic", "download", filled, str(file), code=1).errors
    missing = ottla.run("topic", "download", f"{filled}-2", str(file) + "2", code=1)
    assert "--wait" not in missing.errors
    selection = ("-p", "0", "--grep", "[789]")
    assert ottla.run("topic", "download", filled, "-", *selection).raw == file.read_bytes()
    assert list(tmp_path.iterdir()) == [file]
    assert ottla.run("topic", "tail", filled, "-e").lines == []
