from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from interfaces import embed
from interfaces.embed import Broker, BrokerNotStarted

ROOT = Path(__file__).parents[4]


class FakeBroker(Broker):
    _main = "tests.fakes.serving"


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # The child of a dead process may stay a zombie until it is reaped.
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def options(broker: Broker) -> dict[str, object]:
    """Of its command line."""
    passed: dict[str, object] = json.loads(broker.log().splitlines()[0])
    return passed


def test_a_broker_runs_in_another_process_until_the_block_ends() -> None:
    with FakeBroker() as broker:
        pid = broker.pid
        assert pid != os.getpid()
        assert broker.bootstrap_servers == "127.0.0.1:19092"
        with pytest.raises(RuntimeError, match="already"):
            broker.start()
    assert gone(pid)


def test_a_broker_runs_until_a_block_of_an_event_loop_ends() -> None:
    async def story() -> int:
        async with FakeBroker() as broker:
            return broker.pid

    assert gone(asyncio.run(story()))


@pytest.mark.parametrize(
    "chosen, passed",
    [
        ({}, {"storage": "memory://", "listen": "127.0.0.1:0", "admin": "127.0.0.1:0"}),
        ({"data": Path("/a/folder")}, {"storage": None, "data": "/a/folder"}),
        ({"storage": "lmdb:///a/folder"}, {"storage": "lmdb:///a/folder", "data": None}),
        (
            {"settings": {"num.partitions": 3, "auto.create.topics.enable": False}},
            {"set": ["testing=true", "num.partitions=3", "auto.create.topics.enable=false"]},
        ),
        ({"settings": {"admin.listeners": "127.0.0.1:1234"}}, {"admin": None}),
        ({"settings": {"testing": False}}, {"set": ["testing=false"]}),
        ({"admin": False}, {"admin": "off", "set": []}),
    ],
)
def test_arguments_become_options_of_the_command(
    chosen: dict[str, Any], passed: dict[str, object]
) -> None:
    with FakeBroker(**chosen) as broker:
        assert {name: options(broker)[name] for name in passed} == passed


def test_a_storage_url_without_a_folder_gets_a_temporary_one() -> None:
    with FakeBroker(storage="lmdb://") as broker:
        assert str(options(broker)["data"]).startswith("/")


def test_the_address_of_rest_needs_rest() -> None:
    with FakeBroker(admin=False) as broker, pytest.raises(RuntimeError, match="admin=False"):
        _ = broker.admin_url
    with FakeBroker() as broker:
        assert broker.admin_url == "http://127.0.0.1:18082"


def test_settings_of_the_environment_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT://elsewhere:9092")
    monkeypatch.setenv("OTHER_NAME", "x")
    with FakeBroker() as broker:
        names = json.loads(broker.log().splitlines()[1])
    assert "OTHER_NAME" in names
    assert "KAFKA_ADVERTISED_LISTENERS" not in names


def test_the_error_of_the_broker_is_in_the_exception() -> None:
    with pytest.raises(BrokerNotStarted, match=r"with 3:\nottla: refuse = 'true' \(settings=\)"):
        FakeBroker(settings={"refuse": True}).start()


def test_a_broker_that_is_not_ready_in_time_is_killed() -> None:
    broker = FakeBroker(settings={"never_ready": True}, start_timeout_s=0.5)
    with pytest.raises(BrokerNotStarted, match=r"not ready after 0.5 s"):
        broker.start()
    with pytest.raises(RuntimeError, match="not running"):
        broker.log()


def test_closing_lets_the_broker_drain_and_may_be_done_twice(tmp_path: Path) -> None:
    broker = FakeBroker(settings={"farewell": tmp_path / "farewell"})
    broker.start()
    broker.close()
    broker.close()
    assert (tmp_path / "farewell").read_text() == "drained"


def test_closing_a_dead_broker_is_no_error() -> None:
    with FakeBroker() as broker:
        os.kill(broker.pid, signal.SIGKILL)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_closing_works_while_a_forked_process_holds_the_pipe_open() -> None:
    with FakeBroker() as broker:
        forked = os.fork()
        if forked == 0:  # pragma: no cover
            signal.pause()
        pid = broker.pid
    os.kill(forked, signal.SIGKILL)
    os.waitpid(forked, 0)
    assert gone(pid)


def test_a_broker_ends_when_its_parent_was_killed(tmp_path: Path) -> None:
    farewell = tmp_path / "farewell"
    script = (
        "import sys; from tests.unit.interfaces.embed.test_process import FakeBroker;"
        f"broker = FakeBroker(settings={{'farewell': {str(farewell)!r}}}); broker.start();"
        "print(broker.pid, flush=True); sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while not gone(pid):
        assert time.monotonic() < deadline, "the broker outlived its parent"
        time.sleep(0.01)
    assert farewell.read_text() == "drained"


@pytest.mark.parametrize("name, shebang", [("ottla", f"#!{sys.executable}\n"), ("ottla.pyz", "")])
def test_a_program_in_place_of_the_package(
    name: str, shebang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / name
    code = "import sys; from tests.fakes.serving import main; sys.exit(main())"
    program.write_text(f"{shebang}import sys; sys.path[0] = {str(ROOT)!r}\n{code}\n", "utf-8")
    program.chmod(0o755 if shebang else 0o644)
    settings = {"farewell": tmp_path / "farewell"}
    with Broker(executable=program, settings=settings) as broker:
        assert broker.bootstrap_servers == "127.0.0.1:19092"
    assert (tmp_path / "farewell").read_text() == "drained"
    monkeypatch.setenv("OTTLA_EXECUTABLE", str(program))
    with Broker() as broker:
        assert broker.bootstrap_servers == "127.0.0.1:19092"


def test_a_program_that_cannot_run(tmp_path: Path) -> None:
    with pytest.raises(BrokerNotStarted, match=r"cannot run /.*/ottla: No such file"):
        Broker(executable=tmp_path / "ottla").start()


def test_a_broker_imports_nothing_that_it_does_not_need() -> None:
    code = "import sys, interfaces.main.__main__, interfaces.main.serve; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()
    assert "interfaces.embed" in loaded
    unused = {"interfaces.embed.broker", "confluent_kafka", "fastapi", "pydantic", "yaml"}
    assert not unused & set(loaded)


def test_dir_lists_the_names_that_are_imported_at_first_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(embed, "Record")
    assert set(embed.__all__) <= set(dir(embed))
