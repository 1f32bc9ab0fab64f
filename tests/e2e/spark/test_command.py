"""`ottla spark`: failures and wrong arguments are one line."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from interfaces.main.arguments import parser
from interfaces.spark import running
from interfaces.spark.session import root
from tests.unit.interfaces.spark.segments.folder import DataFolder


def spark_command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "interfaces.main", "spark", *words]


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_failed_task_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "requests.log.gz"
    file.write_text("not compressed")
    assert running.run(parser().parse_args(["spark", "requests", str(file)])) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "ottla: not a gzip file\n")


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        ("perf --size 3", 2, "messageSize: 3 is less than 28"),
        ("perf -X foo=1", 2, 'producer: No such configuration property: "foo"'),
        ("perf -b there:70000", 2, "--bootstrap-server: 'there:70000'"),
        ("perf -b 127.0.0.1:1", 1, "no broker at 127.0.0.1:1: connection refused"),
        ("perf --master nowhere -b {there}", 2, "'nowhere' is not a Spark master like local"),
        ("archive --to {new}", 2, "name the topics, or give a --pattern"),
        ("archive t --pattern t --to {new}", 2, "name the topics, or give a --pattern"),
        ("archive --pattern ( --to {new}", 2, "--pattern: RE2, which has no"),
        ("archive t --to {new} -X foo=1", 2, 'No such configuration property: "foo"'),
        ("archive t --to {new} -b 127.0.0.1:1", 1, "no broker at 127.0.0.1:1: connection refused"),
        (
            "archive t --to {file}/below -b {there}",
            1,
            "{file}/below cannot be written: {file} is no folder",
        ),
        ("restore {folder}", 2, "{folder} is no archive: name the folder of its --to"),
        ("restore {folder} --from today", 2, "'today' is no day like 2026-11-22"),
        ("restore {archive} -b there:70000", 2, "--bootstrap-server: 'there:70000'"),
        ("analyze t -b 127.0.0.1:1", 1, "no broker at 127.0.0.1:1: connection refused"),
        ("analyze --data {folder}", 1, "there is no store in {folder}"),
        ("analyze --data {store}", 1, "there is no topic in {store}"),
        ("analyze --data {store} t", 1, "there is no topic t in {store}"),
        ("analyze --data {store} -b {there}", 2, "--data and -b exclude each other"),
        ("analyze -b {there}", 2, "name the topics"),
        ("requests {folder}/none", 2, "there is no {folder}/none"),
        ("requests {file} --master nowhere", 2, "'nowhere' is not a Spark master like local"),
        ("requests {file} --master spark://127.0.0.1:1", 1, "no Spark master at 127.0.0.1:1: conn"),
        ("requests {file} --json {folder}", 1, "{folder} cannot be written: it is a folder"),
        # With these arguments Spark would start.
        ("perf -b {there}", 1, "Spark needs Java 17 or newer: "),
        ("archive t --to {new} -b {there}", 1, "Spark needs Java 17 or newer: "),
        ("restore {archive} -b {there}", 1, "Spark needs Java 17 or newer: "),
    ],
)
def test_wrong_arguments_are_one_line_before_spark_starts(
    words: str,
    code: int,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """There is no Java, so Spark cannot have started."""
    pytest.importorskip("pyspark", reason="needs Spark")
    for name in ("archive/_spark_metadata", "folder"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    with DataFolder(tmp_path / "store").changed():
        pass
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("interfaces.spark.java._wheel", lambda: None)
    monkeypatch.setattr("interfaces.spark.running.is_running", lambda: False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as broker:
        places = {
            each: str(tmp_path / each) for each in ("archive", "folder", "file", "new", "store")
        }
        places["there"] = f"127.0.0.1:{broker.getsockname()[1]}"
        arguments = [word.format(**places) for word in words.split()]
        assert running.run(parser().parse_args(["spark", *arguments])) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ottla: {line.format(**places)}")
    assert printed.err.count("\n") == 1


def environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name != "OTTLA_TRACEBACK"}
    return {**inherited, "PYTHONPATH": root()}
