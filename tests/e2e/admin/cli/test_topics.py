from __future__ import annotations

import json

import yaml

from tests.e2e.admin.cli.conftest import Ottla

NONE = "has no effect in this broker"


def test_topics_are_made_looked_at_and_deleted(ottla: Ottla, name: str) -> None:
    other = f"{name}-2"
    created = ottla.run("topic", "create", name, other, "-p", "3", "-c", "retention.ms=5000")
    assert created.lines == [f"{name} is created", f"{other} is created"]
    assert [name, "3", "1"] in ottla.run("topic", "list").rows
    listed = json.loads(ottla.run("topic", "list", f"^{name}", "-o", "json").out)
    assert listed == [{"name": n, "partitions": 3, "replicas": 1} for n in (name, other)]

    [described] = yaml.safe_load(ottla.run("topic", "describe", name, "-o", "yaml").out)
    assert described["configs"]["retention.ms"] == "5000"
    assert described["warnings"] == [f"retention.ms {NONE}"]
    assert created.errors == f"warning: retention.ms {NONE}\n"
    assert [(p["partition"], p["leader"], p["end_offset"]) for p in described["partitions"]] == [
        (0, 1, 0),
        (1, 1, 0),
        (2, 1, 0),
    ]

    ottla.run("topic", "delete", name, other)
    assert ottla.run("topic", "list", f"^{name}").rows == []


def test_what_cannot_be_done_is_one_line_and_exit_code_one(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    again = ottla.run("topic", "create", name, code=1)
    assert again.errors == (
        f"ottla: topic {name}: Topic '{name}' already exists. (TOPIC_ALREADY_EXISTS)\n"
    )
    assert ottla.run("topic", "create", name, "--if-not-exists").lines == [
        f"{name} is there already"
    ]
    assert ottla.run("topic", "describe", "no-such", code=1).errors == (
        "ottla: there is no topic no-such\n"
    )
    assert ottla.run("topic", "delete", "no-such", code=1).errors == (
        "ottla: there is no topic no-such\n"
    )
    ottla.run("topic", "delete", "no-such", "--if-exists")


def test_a_dry_run_changes_nothing(ottla: Ottla, name: str) -> None:
    assert ottla.run("topic", "create", name, "--dry-run").lines == [f"{name} could be created"]
    assert ottla.run("topic", "list", f"^{name}").rows == []


def test_a_dry_run_warns_of_configs_without_effect_too(ottla: Ottla, name: str) -> None:
    configs = (
        "-c",
        "retention.ms=5",
        "-c",
        "cleanup.policy=compact",
        "-c",
        "segment.bytes=1073741824",
        "-c",
        "remote.log.copy.disable=true",
    )
    assert ottla.run("topic", "create", name, "--dry-run", *configs).errors == (
        f"warning: retention.ms {NONE}\n"
        "warning: cleanup.policy has only part of its effect in this broker\n"
        f"warning: remote.log.copy.disable {NONE}\n"
    )


def test_configs_are_set_and_given_up(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    two = ("retention.ms=1", "segment.bytes=1048576")
    dry = ottla.run("topic", "config", "set", name, *two, "--dry-run")
    assert dry.errors == f"warning: retention.ms {NONE}\nwarning: segment.bytes {NONE}\n"
    assert ottla.run("topic", "config", "get", name, "--set-only").rows == []
    ottla.run("topic", "config", "set", name, "retention.ms=77", "segment.bytes=1048576")
    assert ottla.run("topic", "config", "get", name, "--set-only").rows == [
        ["retention.ms", "77", "topic", "none"],
        ["segment.bytes", "1048576", "topic", "none"],
    ]
    assert f"WARNING     retention.ms {NONE}" in ottla.run("topic", "describe", name).lines
    assert not ottla.run("topic", "config", "set", name, "retention.ms=-1").errors
    ottla.run("topic", "config", "unset", name, "retention.ms")
    [row] = json.loads(ottla.run("topic", "config", "get", name, "retention.ms", "-o", "json").out)
    assert (row["value"], row["source"], row["effect"]) == ("604800000", "default", "none")
    assert "nosuch" in ottla.run("topic", "config", "set", name, "nosuch=1", code=1).errors
    assert "nosuch" in ottla.run("topic", "config", "get", name, "nosuch", code=1).errors
