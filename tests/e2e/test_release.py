"""The files of scripts/release, outside the checkout, in an empty environment."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.e2e.broker_process import ROOT, BrokerProcess
from tests.e2e.debian_root import inside, unpack
from tests.e2e.librdkafka import PATIENCE_S, deliver, producer, read_values

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

SOURCES = ("domain", "application", "infrastructure", "interfaces", "scripts", "pyproject.toml")


@pytest.fixture(scope="module")
def dist() -> Path:
    """Built once for these sources."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for file in sorted([ROOT / source, *(ROOT / source).rglob("*")]):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    releases = ROOT / ".cache/release"
    releases.mkdir(parents=True, exist_ok=True)
    with (releases / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = releases / digest.hexdigest()[:16]
        if not built.exists():
            for old in releases.glob("*/"):
                shutil.rmtree(old)
            subprocess.check_call(["scripts/release", str(built.with_suffix(".new"))], cwd=ROOT)
            built.with_suffix(".new").rename(built)
    return built


def check(broker: BrokerProcess) -> None:
    """A client, the console, a search in a worker process, a command, and the stop."""
    with broker:
        deliver(producer(broker.bootstrap), "visits", b"hello")
        assert read_values(broker.bootstrap, "visits", 1) == [b"hello"]
        rest = f"http://{broker.admin.bootstrap}"
        with urlopen(f"{rest}/", timeout=PATIENCE_S) as page:
            assert b"<html" in page.read()
        with urlopen(f"{rest}/topics/visits/records?text=hell", timeout=PATIENCE_S) as found:
            assert [one["value"] for one in json.load(found)["data"]] == ["hello"]
        command = [*broker.program, "topic", "list", "-b", broker.bootstrap]
        assert "visits" in subprocess.check_output(command, env=broker.variables, text=True)
        assert broker.terminate() == 0
    assert "scan_worker_failed" not in broker.log()


def test_the_zip_application_runs_with_a_python_and_nothing_else(
    dist: Path, tmp_path: Path
) -> None:
    shutil.copy(dist / "ottla.pyz", tmp_path)
    (tmp_path / "home").mkdir()
    check(
        BrokerProcess(
            tmp_path / "broker",
            arguments=["--admin", "127.0.0.1:0"],
            program=[str(Path(sys.executable).resolve()), str(tmp_path / "ottla.pyz")],
            variables={"HOME": str(tmp_path / "home")},
        )
    )


def test_the_executable_runs_without_python(dist: Path, tmp_path: Path) -> None:
    root = unpack(tmp_path / "root")
    assert not list((root / "usr/bin").glob("python*"))
    [archive] = dist.glob("ottla-linux*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(root / "opt", filter="data")
    folder = tmp_path / "broker"
    program = [*inside(root, folder), "/opt/ottla/ottla"]
    variables = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    check(
        BrokerProcess(
            folder, arguments=["--admin", "127.0.0.1:0"], program=program, variables=variables
        )
    )
    tour = subprocess.check_output([*program, "demo"], env=variables, text=True)
    assert tour.endswith("Done. To run a broker: ottla serve\n")
