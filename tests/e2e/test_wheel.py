"""What users install: built, put into an empty environment beside a foreign `domain`, and run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from interfaces.spark.java import java_home

ROOT = Path(__file__).parents[2]
#: A data source is found by Spark in a module of its own, at the top.
DATA_SOURCES = {
    "kafka": "pyspark_ottla.py",
    "segments": "pyspark_ottla_segments.py",
}
TOP = {"ottla"} | {
    module
    for folder, module in DATA_SOURCES.items()
    if (ROOT / "interfaces/spark" / folder / "sources.py").exists()
}

#: Nothing is fetched: the test environment has the build backend, and what the broker needs.
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-index", "--no-deps")

#: A user's process knows nothing of the checkout.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def build_wheel(source: Path, target: Path) -> Path:
    options = (*OFFLINE, "--no-build-isolation", "--wheel-dir")
    subprocess.check_call([*PIP, "wheel", *options, str(target), str(source)])
    (wheel,) = target.glob("*.whl")
    return wheel


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


class Environment:
    """A virtual environment with the wheel, its dependencies, and a user's package `domain`."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        self.python = str(folder / "bin/python")
        self.ottla = str(folder / "bin/ottla")
        purelib = sysconfig.get_path("purelib", vars={"base": str(folder)})
        self.site_packages = Path(purelib)
        # The dependencies, as installed for these tests; a .pth file is how pip itself would
        # leave a folder on the path.
        theirs = sysconfig.get_path("purelib")
        (self.site_packages / "dependencies.pth").write_text(theirs, "utf-8")
        (self.site_packages / "domain.py").write_text("OWNER = 'the user'\n", "utf-8")
        self.before = self.installed()

    def installed(self) -> set[str]:
        return {path.name for path in self.site_packages.iterdir()}

    def install(self, wheel: Path) -> None:
        options = (*OFFLINE, "--no-compile")  # the tests import few of its modules
        subprocess.check_call([*PIP, "--python", self.python, "install", *options, str(wheel)])

    def run(self, code: str, folder: Path, more: Mapping[str, str] | None = None) -> str:
        environment = ENVIRONMENT | dict(more or {})
        command = [self.python, "-c", code]
        return subprocess.check_output(command, cwd=folder, env=environment, text=True)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("environment"))
    environment.install(wheel)
    return environment


@pytest.fixture
def served(environment: Environment, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [
            *(environment.ottla, "serve", "--listen", "127.0.0.1:0"),
            *("--admin", "127.0.0.1:0"),
            *("--data", str(tmp_path / "data"), "--ready-file", str(tmp_path / "ready")),
        ],
        cwd=tmp_path,
        env=ENVIRONMENT,
    ) as process:
        yield process
        process.kill()


def facts_of(process: subprocess.Popen[bytes], ready_file: Path) -> dict[str, Any]:
    deadline = time.monotonic() + 20
    while not ready_file.exists():
        assert process.poll() is None, f"ottla serve ended with {process.returncode}"
        assert time.monotonic() < deadline, "ottla serve is not ready after 20 s"
        time.sleep(0.005)
    facts: dict[str, Any] = json.loads(ready_file.read_bytes())
    return facts


def test_the_wheel_has_one_top_level_package_and_the_modules_for_spark(wheel: Path) -> None:
    top = {name.partition("/")[0] for name in contents(wheel)}
    assert {name for name in top if not name.endswith(".dist-info")} == TOP
    assert {"ottla/py.typed", "ottla/testcontainers.py"} <= contents(wheel).keys()
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.long
def test_the_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    subprocess.check_call(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    (sdist,) = tmp_path.glob("*.tar.gz")
    again = build_wheel(sdist, tmp_path / "again")
    assert contents(again) == contents(wheel)


def test_nothing_else_is_installed(environment: Environment) -> None:
    added = environment.installed() - environment.before - {"__pycache__"}
    assert {name for name in added if not name.endswith(".dist-info")} == TOP


def test_a_package_of_the_user_can_be_called_domain(
    environment: Environment, tmp_path: Path
) -> None:
    code = (
        "import ottla\n"
        "with ottla.Broker() as broker:\n"
        "    import domain\n"
        "    print(ottla.__version__, domain.OWNER)\n"
    )
    version, _, owner = environment.run(code, tmp_path).strip().partition(" ")
    assert f"ottla-{version}.dist-info" in environment.installed()
    assert owner == "the user"


def test_importing_the_installed_facade_imports_no_dependency(
    environment: Environment, tmp_path: Path
) -> None:
    theirs = {"asyncio", "lmdb", "orjson", "confluent_kafka", "pyspark", "pyarrow"}
    for module in ("ottla", "ottla.spark"):
        loaded = environment.run(f"import sys, {module}; print(*sys.modules)", tmp_path).split()
        assert not theirs & set(loaded)


def test_the_package_can_be_run_like_the_command(environment: Environment, tmp_path: Path) -> None:
    for command in ([environment.ottla], [environment.python, "-m", "ottla"]):
        words = [*command, "--version"]
        output = subprocess.check_output(words, cwd=tmp_path, env=ENVIRONMENT, text=True)
        assert output.startswith("ottla ")


def test_the_installed_facade_runs_a_broker(environment: Environment, tmp_path: Path) -> None:
    code = (
        "import ottla, socket\n"
        "with ottla.Broker() as broker:\n"
        "    host, _, port = broker.bootstrap_servers.rpartition(':')\n"
        "    socket.create_connection((host, int(port)), 5).close()\n"
        "    print(broker.pid, ottla.RestError.__module__)\n"
    )
    pid, module = environment.run(code, tmp_path).split()
    assert module == "ottla", "as in tracebacks"
    assert not Path(f"/proc/{pid}").exists()
    assert list(tmp_path.iterdir()) == []


def test_pytest_has_the_fixtures(environment: Environment, tmp_path: Path) -> None:
    test = "def test_it(ottla_broker, ottla_topic): ottla_broker.produce(ottla_topic, b'x')\n"
    (tmp_path / "test_it.py").write_text(test, "utf-8")
    without = [word for name in ("schemathesis", "anyio") for word in ("-p", f"no:{name}")]
    command = [environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *without]
    output = subprocess.check_output(command, cwd=tmp_path, env=ENVIRONMENT, text=True)
    assert "1 passed" in output


@pytest.mark.long
@pytest.mark.timeout(180)
def test_spark_finds_the_installed_data_source(environment: Environment, tmp_path: Path) -> None:
    """In a user's own session, as the README makes it, in an environment that is not activated:
    nothing is registered, and workers have a `domain` too.
    """
    pytest.importorskip("pyspark", reason="needs Spark")
    code = """
import os, sys
import ottla
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

os.environ["PYSPARK_PYTHON"] = sys.executable

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.memory", "512m")
spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()

@udf("string")
def owner(value):
    import domain
    return domain.OWNER

with ottla.Broker() as broker:
    servers = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    frame = spark.createDataFrame([("hello",)], "value string")
    frame.write.format("ottla").mode("append").options(**servers, topic="greetings").save()
    found = spark.read.format("ottla").options(**servers, subscribe="greetings").load()
    [row] = found.select(found.value.cast("string"), owner("value")).collect()
    print(*row)
    from ottla.spark import register
    register(spark)
spark.stop()
"""
    assert shutil.which("python3") != environment.python
    java = str(java_home(os.environ, tmp_path / "java"))
    output = environment.run(code, tmp_path, {"JAVA_HOME": java})
    assert output.split("\n") == ["hello the user", ""]


def test_the_installed_command_serves_and_ends_with_zero(
    served: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    facts = facts_of(served, tmp_path / "ready")
    address = {"bootstrap.servers": facts["bootstrap_servers"]}
    producer = Producer(address)
    producer.produce("greetings", b"hello")
    assert producer.flush(20) == 0

    consumer = Consumer({**address, "group.id": "a-group", "enable.auto.commit": False})
    consumer.assign([TopicPartition("greetings", 0, 0)])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    assert message.value() == b"hello"

    with urlopen(f"http://{facts['admin'][0]}/topics/greetings", timeout=30) as response:
        assert json.load(response)["partitions_count"] == 1

    served.send_signal(signal.SIGTERM)
    assert served.wait(20) == 0
