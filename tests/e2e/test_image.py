"""The steps of the Containerfile, done in a Debian of packages, and what the image then runs.

An engine for containers does the same; its network and volumes are not tested.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e.broker_process import ROOT
from tests.e2e.debian_root import SUITE, inside, run, unpack

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

PATIENCE_S = 60.0

PRODUCE = """
from tests.e2e.librdkafka import deliver, producer
deliver(producer("localhost:9092"), "visits", b"hello")
"""
CONSUME = """
from tests.e2e.librdkafka import admin, read_values
assert read_values("localhost:9092", "visits", 1) == [b"hello"]
[broker] = admin("localhost:9092").list_topics(timeout=30).brokers.values()
print(f"{broker.host}:{broker.port}")
"""


@dataclass
class Stage:
    root: Path
    variables: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def instructions() -> list[tuple[str, str]]:
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    steps = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return [(name, rest) for name, rest in steps]


def built(folder: Path) -> Stage:
    """The last stage."""
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for name, rest in instructions():
        words = shlex.split(rest)
        if name == "FROM":
            assert words[0] == f"debian:{SUITE}-slim"
            stage = stages[words[-1]] = Stage(unpack(folder / words[-1].replace(":", "-")))
            continue
        assert stage is not None
        if name == "RUN":
            run(stage.root, rest, stage.variables, stage.user)
        elif name == "COPY":
            _copy(words, stage.root, stages)
        elif name == "ENV":
            stage.variables |= dict(word.split("=", 1) for word in words)
        elif name == "USER":
            stage.user = rest
        elif name in ("ENTRYPOINT", "CMD"):
            setattr(stage, "command" if name == "CMD" else "entrypoint", json.loads(rest))
        elif name == "HEALTHCHECK":
            stage.health = json.loads(rest[rest.index("CMD") + 3 :])
        else:
            assert name in ("EXPOSE", "STOPSIGNAL", "VOLUME", "WORKDIR")
    assert stage is not None
    return stage


def _copy(words: list[str], root: Path, stages: dict[str, Stage]) -> None:
    *options, source, target = words
    there = root / target.lstrip("/")
    if options:
        [stage] = options
        origin = stages[stage.removeprefix("--from=")].root / source.lstrip("/")
        shutil.copytree(origin, there, symlinks=True)
        return
    assert source == "."
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        if line.startswith("!"):
            name = line[1:]
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, there / name)
            else:
                shutil.copy(ROOT / name, there / name)


class Container:
    """In a network of its own, so that its ports are those of the image."""

    def __init__(self, image: Stage, **variables: str) -> None:
        self.image = image
        self.variables = {**image.variables, **variables}
        self.process = subprocess.Popen(
            [
                *inside(image.root, user=image.user, own_network=True),
                *(*image.entrypoint, *image.command),
            ],
            env=self.variables,
        )
        self.network = ["nsenter", f"--net=/proc/{self.process.pid}/ns/net"]

    def exec(self, *command: str) -> int:
        return subprocess.call(
            [*self.network, *inside(self.image.root, user=self.image.user), *command],
            env=self.variables,
        )

    def wait_until_healthy(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while self.exec(*self.image.health) != 0:
            assert self.process.poll() is None
            assert time.monotonic() < until

    def client(self, code: str) -> str:
        command = [*self.network, sys.executable, "-c", code]
        return subprocess.check_output(command, cwd=ROOT, text=True)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE_S)


def test_the_image_serves_as_its_user_and_keeps_its_data(tmp_path: Path) -> None:
    image = built(tmp_path)
    container = Container(image)
    try:
        container.wait_until_healthy()
        status = Path(f"/proc/{container.process.pid}/status").read_text()
        assert "Uid:\t1000\t1000" in status
        container.client(PRODUCE)
        assert container.exec("ottla", "topic", "list") == 0
        assert container.stop() == 0

        again = "PLAINTEXT://127.0.0.1:9092"
        container = Container(image, KAFKA_ADVERTISED_LISTENERS=again)
        container.wait_until_healthy()
        assert container.client(CONSUME) == "127.0.0.1:9092\n"
        assert container.stop() == 0
    finally:
        container.process.kill()
        container.process.wait()
