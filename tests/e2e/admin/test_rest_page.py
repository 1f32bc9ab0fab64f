"""Runs every command of docs/rest.md, in its order."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import ROOT, BrokerProcess

PAGE = (ROOT / "docs/rest.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
#: An HTTP error is a failure, too.
CURL = "set -e\ncurl() { command curl -sS --fail-with-body -w '\\n' \"$@\"; }\n"


#: ACLs need an authorizer; the page has no users.
ARGUMENTS = [
    *("--admin", "127.0.0.1:0", "--set", "super.users=User:ANONYMOUS"),
    *("--set", "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
]


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[AdminClient]:
    with BrokerProcess(tmp_path, "memory", ARGUMENTS) as broker:
        yield AdminClient(broker)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_every_command_of_the_page_works(admin: AdminClient, tmp_path: Path) -> None:
    (tmp_path / "password.json").write_text('{"password": "a secret"}')
    script = CURL + "".join(COMMANDS).replace("localhost:8082", admin.broker.admin.bootstrap)
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=50, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"kind":"KafkaTopic"' in done.stdout
    assert '"status":"ready"' in done.stdout
    assert admin.get("/topics/orders").json["partitions_count"] == 6
    largest = admin.get("/topics/orders/configs/max.message.bytes").json
    assert largest["value"] == "2000000"
