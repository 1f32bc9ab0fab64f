"""Servers with the protocol of S3: processes on a port of loopback."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.e2e.broker_process import wait_until
from tests.fakes.versitygw import versitygw

ACCESS_KEY, SECRET_KEY = "ottla-tests", "SeCrEt-of-objects-1"
REGION = "us-east-1"


def environment_of(endpoint: str, **others: str) -> dict[str, str]:
    """Variables by which a broker finds a server, and no other credentials."""
    return {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        **others,
    }


class S3Server:
    """Runs until `stop`."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self.port = port
        self.endpoint = f"http://127.0.0.1:{port}"

    @property
    def environment(self) -> dict[str, str]:
        return environment_of(self.endpoint)

    def new_bucket(self) -> str:
        assert self._process.poll() is None, f"the server ended: {self._process.returncode}"
        name = f"ottla-{uuid4().hex[:12]}"
        self.client.create_bucket(Bucket=name)
        return name

    def new_url(self) -> str:
        return f"s3://{self.new_bucket()}/some/prefix"

    @cached_property
    def client(self) -> Any:
        """Independent of the broker's."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


class MotoServer(S3Server):
    """Checks no signatures, and has all data in memory."""

    def __init__(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.moto_s3"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        super().__init__(process, int(process.stdout.readline()))


class VersityGateway(S3Server):
    """Checks signatures, and has its data in files. Skips without Go."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="ottla-s3-")))
        (folder / "data").mkdir()
        (folder / "metadata").mkdir()
        command = [
            *(str(versitygw()), "--keep-alive", "--quiet", "--port", "127.0.0.1:0"),
            *("posix", "--sidecar", str(folder / "metadata"), str(folder / "data")),
        ]
        keys = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
        process = subprocess.Popen(command, env=keys, stdout=subprocess.DEVNULL)
        wait_until(lambda: _ports(process.pid) != [], 20)
        super().__init__(process, _ports(process.pid)[0])

    def stop(self) -> None:
        super().stop()
        self._stack.close()


def _ports(pid: int) -> list[int]:
    """On which a process listens: this one does not report it."""
    own = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            own.add(str(file.readlink()).removeprefix("socket:[").rstrip("]"))
        except FileNotFoundError:  # it is closed by now
            pass
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = "0A"
    return [
        int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == listening and row[9] in own
    ]
