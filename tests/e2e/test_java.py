"""The Java client with its defaults, newest 4.x and 3.9; Stories.java runs it and reports."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.line_process import LineProcess, cache_folder

FOLDER = Path(__file__).parent / "java"
SOURCE = FOLDER / "Stories.java"
#: The jars of the client alone.
CLIENT = FOLDER / "pom.xml"
#: Consumers in groups, for tests/e2e/groups.
MEMBERS = FOLDER / "Members.java"
#: Applications of Kafka Streams, and the jars of Streams and Connect.
STREAMS, APPLICATIONS = FOLDER / "Streams.java", FOLDER / "applications.xml"
WORD_COUNT = FOLDER / "WordCount.java"
VERSIONS = ("4.2.0", "3.9.2")
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
STORIES = re.findall(r'Map\.entry\("(\w+)"', SOURCE.read_text())
RunningStories = Callable[[str], LineProcess]


def run(command: list[str], timeout_s: float) -> str:
    """What went wrong, or nothing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return f"no end within {timeout_s} s"
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()[-2_000:]


def programs() -> dict[str, str]:
    found = {name: shutil.which(name) for name in ("java", "javac", "mvn")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)} on this machine")
    return {name: path for name, path in found.items() if path is not None}


def jars(version: str, mvn: str, pom: Path = CLIENT) -> Path:
    """What the POM names, and what that needs, copied once per version."""
    folder = cache_folder() / "java" / (version if pom is CLIENT else f"{pom.stem}-{version}")
    complete = folder / ".complete"
    if not complete.exists():
        goal = [COPY, f"-Dkafka.version={version}", f"-DoutputDirectory={folder}"]
        for _ in range(3):
            wrong = run([mvn, "-B", "-q", "-f", str(pom), *goal], 300)
            if not wrong:
                complete.touch()
                break
        else:
            pytest.skip(f"Maven packages cannot be had: {wrong}")
    return folder


def compiled(version: str, source: Path = SOURCE, pom: Path = CLIENT) -> list[str]:
    """The command that runs the program with that client."""
    found = programs()
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    home = cache_folder() / "java"
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{version}.lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        libraries = f"{jars(version, found['mvn'], pom)}/*"
        classes = home / f"{source.stem.lower()}-{version}-{digest}"
        if not (classes / f"{source.stem}.class").exists():
            compile_it = [found["javac"], "-cp", libraries, "-d", str(classes), str(source)]
            wrong = run(compile_it, 120)
            assert not wrong, wrong
    small = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
    return [found["java"], *small, "-cp", f"{classes}:{libraries}", source.stem]


@pytest.fixture(scope="session")
def running_stories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStories]:
    running: dict[str, LineProcess] = {}
    unavailable: dict[str, str] = {}

    def stories(version: str) -> LineProcess:
        if version in unavailable:
            pytest.skip(unavailable[version])
        if version not in running:
            errors = tmp_path_factory.mktemp("java") / "stderr"
            try:
                running[version] = LineProcess(compiled(version), errors)
            except pytest.skip.Exception as reason:
                unavailable[version] = str(reason)
                raise
        return running[version]

    yield stories
    for process in running.values():
        process.close()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("story", STORIES)
def test_the_java_client_reports(
    story: str, version: str, bootstrap: str, topic: str, running_stories: RunningStories
) -> None:
    process = running_stories(version)
    response = process.request("\t".join((story, bootstrap, topic)))
    assert response == "ok", f"{response}\n{process.complaints()}"
