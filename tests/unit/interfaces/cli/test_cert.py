from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from infrastructure.security.authority import BROKER, FOLDER, issue, make_authority
from interfaces.cli.cert import create, renew, show
from interfaces.cli.failures import CommandFailed


@pytest.fixture
def data(tmp_path: Path) -> Path:
    make_authority(tmp_path / FOLDER, datetime.now(UTC))
    issue(tmp_path / FOLDER, ["localhost", "127.0.0.1"], datetime.now(UTC) - timedelta(days=390))
    return tmp_path


def shown(place: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    assert show(argparse.Namespace(place=str(place), output="json")) == 0
    rows: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return rows


def test_show_has_the_broker_and_its_authority(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broker, authority = shown(data, capsys)

    assert broker["names"] == ["localhost", "127.0.0.1"]
    assert broker["days_left"] == 6
    assert broker["issuer"] == authority["subject"]
    assert shown(data / FOLDER / BROKER, capsys) == [broker]


def test_renew_keeps_the_names(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renew(argparse.Namespace(folder=str(data), names=None))
    assert "localhost, 127.0.0.1, until" in capsys.readouterr().out

    assert shown(data, capsys)[0]["days_left"] == 396


def test_renew_takes_other_names(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renew(argparse.Namespace(folder=str(data), names=["kafka.example"]))
    capsys.readouterr()

    assert shown(data, capsys)[0]["names"] == ["kafka.example"]


@pytest.mark.parametrize("names", [None, ["localhost"]])
def test_a_folder_without_certificates_is_one_line(tmp_path: Path, names: list[str] | None) -> None:
    with pytest.raises(CommandFailed, match="No such file"):
        renew(argparse.Namespace(folder=str(tmp_path), names=names))


def test_a_file_without_certificates_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no certificate")

    with pytest.raises(CommandFailed, match="no certificate in PEM"):
        show(argparse.Namespace(place=str(tmp_path / "file"), output="json"))


def test_create_makes_an_authority_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(argparse.Namespace(folder=str(tmp_path), names=["kafka.example"]))
    capsys.readouterr()
    before = shown(tmp_path, capsys)

    with pytest.raises(CommandFailed, match="exists"):
        create(argparse.Namespace(folder=str(tmp_path), names=None))

    assert before[0]["names"] == ["kafka.example"]
    assert shown(tmp_path, capsys) == before
