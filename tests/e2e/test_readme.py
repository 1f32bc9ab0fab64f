"""The README: every snippet is run, and the first programs of docs/examples."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from interfaces.embed import Broker
from interfaces.main.arguments import parser, settings_given
from interfaces.main.settings.sources import load_settings
from tests.e2e.node_packages import program, with_kafkajs
from tests.e2e.program import Program

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples"
DEFAULT_ADDRESS = "localhost:9092"
ADMIN_URL = "localhost:8082"

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
SHELL_LINES = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]


def snippets(kind: str, word: str) -> list[str]:
    return [text for found, text in BLOCKS if found == kind and word in text]


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with Broker() as broker:
        yield broker.bootstrap_servers


def run(
    command: list[str], folder: Path, stdin: str = "", extra: Mapping[str, str] | None = None
) -> str:
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(extra or {})},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def written(snippet: str, folder: Path, name: str, servers: str) -> str:
    path = folder / name
    path.write_text(snippet.replace(DEFAULT_ADDRESS, servers), "utf-8")
    return str(path)


def test_every_snippet_of_a_program_is_an_example_too() -> None:
    programs = {text for kind, text in BLOCKS if kind not in ("sh", "text")}
    examples = {path.read_text("utf-8") for path in EXAMPLES.rglob("*.*") if path.suffix != ".md"}
    assert programs <= examples


def test_each_command_has_a_test() -> None:
    known = re.compile(
        r"\./scripts/|ottla |curl |kcat |echo [a-z ]+ \| (kcat|ottla) |uv tool install \.$|"
        r"pipx install \.$|python3 -m venv |\. ~/ottla-env/|pip install (\.$|'\.\[spark\]'$)"
    )
    assert [line for line in SHELL_LINES if not known.match(line)] == []


@pytest.mark.parametrize("line", [line for line in SHELL_LINES if line.startswith("./")])
def test_a_script_exists(line: str) -> None:
    assert os.access(ROOT / shlex.split(line)[0], os.X_OK)


@pytest.mark.parametrize("line", [line for line in SHELL_LINES if line.startswith("ottla ")])
def test_a_command_line_is_valid(line: str) -> None:
    parsed = parser().parse_args(shlex.split(line)[1:])
    if parsed.command in ("serve", "config"):
        assert load_settings(settings_given(parsed), {}, None).warnings == []


def test_kcat_sends_a_message_and_reads_it(servers: str, tmp_path: Path) -> None:
    if shutil.which("kcat") is None:
        pytest.skip("no kcat on this machine")
    [snippet] = snippets("sh", "kcat")
    output = run(["sh", "-e"], tmp_path, snippet.replace(DEFAULT_ADDRESS, servers))
    assert output == "hello\n"


def test_curl_gets_a_response(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    [snippet] = snippets("sh", "curl localhost:8082/topics\n")
    with Broker(admin=True) as broker:
        output = run(["sh", "-e"], tmp_path, snippet.replace(ADMIN_URL, broker.admin_url))
    assert '"KafkaTopicList"' in output and '"KafkaConsumerGroupList"' in output


@pytest.mark.parametrize(
    "example, output",
    [
        ("first_message_confluent.py", "0 hello from Python\n"),
        ("first_message_aiokafka.py", "0 hello from asyncio\n"),
    ],
)
def test_python_sends_a_message_and_reads_it(
    example: str, output: str, servers: str, tmp_path: Path
) -> None:
    snippet = (EXAMPLES / "python" / example).read_text("utf-8")
    assert (
        run([sys.executable, written(snippet, tmp_path, "first.py", servers)], tmp_path) == output
    )


def test_kafkajs_sends_a_message_and_reads_it(servers: str, tmp_path: Path) -> None:
    snippet = (EXAMPLES / "kafkajs/first_message.js").read_text("utf-8")
    command = [program("node"), written(snippet, tmp_path, "first.js", servers)]
    with Program(command, with_kafkajs()) as running:
        running.wait_for("telegrams 0 0 Hello KafkaJS user!")
        assert running.interrupt() == 0, running.lines


def test_the_pytest_snippet_passes(tmp_path: Path) -> None:
    [snippet] = snippets("python", "ottla_topic")
    written(snippet, tmp_path, "test_it.py", "")
    plugin = "interfaces.embed.pytest_plugin"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", plugin]
    # Ours have many other plugins, which take longer than the snippet.
    extra = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    assert "2 passed" in run(command, tmp_path, extra=extra)
