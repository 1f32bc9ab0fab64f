"""`localhost` where the hosts file gives it both loopback addresses, as on most machines."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.broker_process import PATIENCE_S
from tests.e2e.conftest import EXTERNAL, StartBroker

pytestmark = [
    pytest.mark.skipif(bool(EXTERNAL), reason="OTTLA_TEST_BOOTSTRAP names another broker"),
    pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed"),
    pytest.mark.skipif(
        os.getuid() != 0 or shutil.which("unshare") is None,
        reason="a mount namespace takes root and unshare",
    ),
]

HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"


def run(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A shell script in a mount namespace with such a hosts file."""
    hosts = folder / "hosts"
    hosts.write_text(HOSTS)
    whole = 'set -e; mount --bind "$0" /etc/hosts; ' + script
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", whole, str(hosts), *arguments],
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )


def test_kcat_connects_to_localhost_each_time(start_broker: StartBroker, tmp_path: Path) -> None:
    broker = start_broker("--listen", "localhost:0", "--admin", "localhost:0")
    assert broker.bootstrap == f"localhost:{broker.address.port}"
    # librdkafka picks one of the addresses at random, and does not try the other at once.
    produce = 'for i in $(seq 20); do echo $i | kcat -b "$1" -P -t numbers -X debug=broker; done'
    done = run(tmp_path, produce, broker.bootstrap)
    assert done.returncode == 0, done.stderr
    assert "refused" not in done.stderr
    consumed = run(tmp_path, 'kcat -b "$1" -C -t numbers -o beginning -e -q', broker.bootstrap)
    assert sorted(map(int, consumed.stdout.split())) == list(range(1, 21))


def test_the_admin_server_listens_on_ipv4_and_ipv6(
    start_broker: StartBroker, tmp_path: Path
) -> None:
    broker = start_broker("--admin", "localhost:0")
    assert broker.admin.host == "localhost"
    for host in ("127.0.0.1", "[::1]", "localhost"):
        url = f"http://{host}:{broker.admin.port}/healthz"
        done = run(tmp_path, 'curl -sSf --max-time 20 "$1"', url)
        assert done.returncode == 0, done.stderr
