"""Producers of other languages: a line in, a line out; see Producing.java."""

from __future__ import annotations

import os
from pathlib import Path

from tests.e2e import test_java
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import program, with_kafkajs

CLIENTS = Path(__file__).parent


def java_producer(errors: Path) -> LineProcess:
    command = test_java.compiled(test_java.VERSIONS[0], CLIENTS / "Producing.java")
    return LineProcess(command, errors)


def kafkajs_producer(errors: Path) -> LineProcess:
    command = [program("node"), str(CLIENTS / "producing.js")]
    return LineProcess(command, errors, os.environ | with_kafkajs())


def producers(folder: Path) -> dict[str, LineProcess]:
    return {"js": kafkajs_producer(folder / "js"), "java": java_producer(folder / "java")}
