from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.main.settings.files import read_settings_file
from interfaces.main.settings.origin import SettingsError


def texts(path: Path) -> dict[str, str]:
    return {name: setting.text for name, setting in read_settings_file(path).items()}


def test_toml_tables_dotted_and_quoted_keys_are_the_same(tmp_path: Path) -> None:
    file = tmp_path / "ottla.toml"
    file.write_text(
        '"num.partitions" = 3\n'
        "delete.topic.enable = false\n"
        'listeners = ["PLAINTEXT://:1", "OUTSIDE://:2"]\n'
        "[log.retention]\nhours = 5\n"
    )
    assert read_settings_file(file)["num.partitions"].origin == f"file {file}"
    assert texts(file) == {
        "num.partitions": "3",
        "delete.topic.enable": "false",
        "listeners": "PLAINTEXT://:1,OUTSIDE://:2",
        "log.retention.hours": "5",
    }


@pytest.mark.parametrize("name", ["server.properties", "kafka.conf", "kafka"])
def test_a_server_properties_is_known_by_suffix_or_content(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("process.roles=broker\nlisteners=PLAINTEXT://:9092,\\\n  X://:1\n")
    assert texts(file) == {
        "process.roles": "broker",
        "listeners": "PLAINTEXT://:9092,X://:1",
    }


def test_errors_of_a_file_without_a_known_suffix_name_both_formats(tmp_path: Path) -> None:
    file = tmp_path / "ottla"
    file.write_text('flush = "os"\nflush.interval.ms = 5')
    origin = read_settings_file(file)["flush"].origin
    assert ("TOML" in origin, "server.properties" in origin) == (True, True)
    file.write_text("[log.retention\nhours = 5")
    with pytest.raises(SettingsError, match=r"neither TOML .* nor a server\.properties"):
        read_settings_file(file)


def test_toml_is_known_by_content(tmp_path: Path) -> None:
    file = tmp_path / "ottla.conf"
    file.write_text('storage = "memory://"')
    assert texts(file) == {"storage": "memory://"}


@pytest.mark.parametrize(
    "content, words",
    [
        (b"num.partitions = ", "Invalid value"),
        (b'flush = "os"\nflush.interval.ms = 5', "write dotted keys in quotes"),
        (b'"a.b" = 1\na.b = 2', "a.b is given twice"),
        (b"a = 2020-01-01", "a is not text"),
        (b"\xff\xfe\xff", "not UTF-8"),
        (None, "No such file"),
    ],
)
def test_an_unreadable_file_is_refused_with_one_line(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    file = tmp_path / "ottla.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError) as refusal:
        read_settings_file(file)
    assert str(refusal.value).startswith(f"cannot read {file}: ")
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
