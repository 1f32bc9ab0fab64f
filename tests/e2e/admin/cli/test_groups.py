from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla, create_filled
from tests.e2e.admin.conftest import commit_offset
from tests.e2e.broker_process import BrokerProcess

HEAD = [
    *("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
    *("CONSUMER-ID", "HOST", "CLIENT-ID"),
]


@pytest.fixture
def group(cli_broker: BrokerProcess, name: str) -> str:
    """Committed offset 6 of 10 records, without members."""
    create_filled(cli_broker, name, [b"%d" % number for number in range(10)])
    commit_offset(cli_broker, name, name, 6)
    return name


def offsets(ottla: Ottla, group: str) -> list[tuple[int, int, int, int]]:
    [described] = json.loads(ottla.run("group", "describe", group, "-o", "json").out)
    return [
        (one["partition"], one["current_offset"], one["log_end_offset"], one["lag"])
        for one in described["offsets"]
    ]


def test_a_group_is_described_in_kafkas_columns(ottla: Ottla, group: str) -> None:
    done = ottla.run("group", "describe", group)
    assert done.lines[0].split() == HEAD
    assert done.rows == [[group, group, "0", "6", "10", "4", "-", "-", "-"]]
    assert done.errors == f"Consumer group '{group}' has no active members.\n"
    listed = ottla.run("group", "list")
    assert listed.lines[0].split() == ["GROUP", "TYPE", "STATE"]
    assert [group, "Classic", "Empty"] in listed.rows
    [state] = ottla.run("group", "describe", group, "--state").rows
    assert state == [group, ottla.bootstrap, "(1)", "-", "Empty", "0"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_with_members_is_described_and_not_changed(
    cli_broker: BrokerProcess, ottla: Ottla, name: str, protocol: str
) -> None:
    create_filled(cli_broker, name, [b"0", b"1"])
    ottla.run("topic", "create", f"{name}-2", "-p", "3")
    member = ottla.start("consume", name, "-g", name, "-X", f"group.protocol={protocol}")
    try:
        assert member.stdout is not None
        assert member.stdout.readline() == b"0\n"
        [row] = ottla.run("group", "describe", name).rows
        assert row[1:3] == [name, "0"]
        assert (row[7], row[8]) == ("/127.0.0.1", "ottla-cli")
        both = ("-t", name, "-t", f"{name}-2")
        refused = ottla.run("group", "seek", name, "--to", "start", *both, code=1)
        assert (refused.out, refused.errors.count("\n")) == ("", 1)
        assert "NON_EMPTY_GROUP" in ottla.run("group", "delete", name, code=1).errors
    finally:
        member.terminate()
        member.communicate(timeout=PATIENCE_S)


def test_a_member_commits_at_its_end_unless_it_is_told_otherwise(ottla: Ottla, group: str) -> None:
    read = ("consume", group, "-g", group, "-n", "2")
    ottla.run(*read, "-X", "enable.auto.commit=false")
    assert offsets(ottla, group) == [(0, 6, 10, 4)]
    ottla.run(*read)
    assert offsets(ottla, group) == [(0, 8, 10, 2)]


def test_committed_offsets_are_reset(ottla: Ottla, group: str) -> None:
    dry = ottla.run("group", "seek", group, "--to", "start", "--dry-run")
    head = ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET", "PRIOR-OFFSET"]
    assert dry.lines[0].split() == head
    assert dry.rows == [[group, group, "0", "0", "6"]]
    assert offsets(ottla, group) == [(0, 6, 10, 4)]
    for where, expected in (("-2", 4), ("+3", 7), ("end", 10), ("@-1h", 0), ("99", 10)):
        ottla.run("group", "seek", group, "--to", where)
        assert offsets(ottla, group) == [(0, expected, 10, 10 - expected)]


def test_committed_offsets_are_exported_and_read_from_a_file(
    ottla: Ottla, group: str, tmp_path: Path
) -> None:
    exported = ottla.run("group", "describe", group, "--export")
    assert exported.out == f"{group},0,6\n"
    file = tmp_path / "offsets.csv"
    file.write_bytes(exported.raw)
    ottla.run("group", "seek", group, "--to", "start")
    ottla.run("group", "seek", group, "--from-file", str(file))
    assert offsets(ottla, group) == [(0, 6, 10, 4)]
    for line, code in ((f"{group},0", 2), (f"{group},0,x", 2), ("", 2), (f"{group},7,1", 1)):
        file.write_text(line)
        ottla.run("group", "seek", group, "--from-file", str(file), code=code)
    ottla.run("group", "seek", group, "--from-file", str(tmp_path / "none"), code=1)
    ottla.run("group", "describe", f"{group}-2", "--export", code=1)
    assert offsets(ottla, group) == [(0, 6, 10, 4)]


def test_offsets_and_groups_are_deleted(
    cli_broker: BrokerProcess, ottla: Ottla, group: str
) -> None:
    other = f"{group}-2"
    create_filled(cli_broker, other, [b"x"])
    ottla.run("group", "seek", group, "--to", "end", "-t", other)
    assert len(ottla.run("group", "offset-delete", group, "-t", other).lines) == 1
    assert offsets(ottla, group) == [(0, 6, 10, 4)]
    ottla.run("group", "offset-delete", group, "-t", other, code=1)
    ottla.run("group", "delete", group)
    assert group in ottla.run("group", "describe", group, code=1).errors
