"""Servers with the protocol of S3: processes on a port of loopback."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from uuid import uuid4

ACCESS_KEY, SECRET_KEY = "ottla-tests", "SeCrEt-of-objects-1"
REGION = "us-east-1"


def environment_of(endpoint: str, **others: str) -> dict[str, str]:
    """Variables by which a broker finds the server, and no other credentials."""
    return {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        **others,
    }


class S3Server:
    """Runs until `stop`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.moto_s3"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.endpoint = f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return environment_of(self.endpoint)

    def new_bucket(self) -> str:
        name = f"ottla-{uuid4().hex[:12]}"
        self.client.create_bucket(Bucket=name)
        return name

    @property
    def client(self) -> Any:
        """An independent one."""
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
