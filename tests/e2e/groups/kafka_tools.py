"""Apache Kafka's own tools, all in one JVM: tests/e2e/java/Tools.java."""

from __future__ import annotations

import shutil
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import test_java
from tests.e2e.line_process import LineProcess
from tests.oracle.kafka import KafkaNotFound, find_jars

Tool = Callable[..., str]


def started_tools(folder: Path, *options: str) -> LineProcess:
    """`options`: of the JVM."""
    if shutil.which("javac") is None:
        pytest.skip("no JDK on this machine")
    try:
        classes = f"{find_jars()}/*"
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    small = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    command = ["java", *small, *options, "-cp", classes, str(test_java.FOLDER / "Tools.java")]
    return LineProcess(command, folder / "stderr")


def run_tool(tools: LineProcess, name: str, bootstrap: str, *arguments: str) -> str:
    """Returns all that the tool prints; its name may have a subcommand behind it."""
    line = "\t".join((*name.split(), "--bootstrap-server", bootstrap, *arguments))
    return b64decode(tools.request(line)).decode()
