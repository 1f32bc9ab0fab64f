"""docs/rest.md as somebody who tries it reads it: every command is run, in its order."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import ROOT, BrokerProcess
from tests.e2e.conftest import StartBroker

PAGE = (ROOT / "docs/rest.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(commands: str, broker: BrokerProcess) -> str:
    """Each has to succeed; curl itself takes an error for a success."""
    script = f"set -e\ncurl() {{ command curl -sS --fail-with-body -w '\\n' \"$@\"; }}\n{commands}"
    script = script.replace("localhost:8082", broker.admin.bootstrap)
    ended = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=50, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_every_command_of_the_page_works(start_broker: StartBroker) -> None:
    broker = start_broker("--admin", "127.0.0.1:0")
    said = "".join(run(block, broker) for block in COMMANDS)
    assert '"kind":"KafkaTopic"' in said
    assert '"status":"ready"' in said
    topic = AdminClient(broker).get("/topics/orders").json
    assert topic["partitions_count"] == 6
    largest = AdminClient(broker).get("/topics/orders/configs/max.message.bytes").json
    assert largest["value"] == "2000000"
