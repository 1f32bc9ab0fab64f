"""The S3 of this process of tests."""

from __future__ import annotations

import atexit
from functools import cache

from tests.fakes.s3 import S3Server


@cache
def running_s3() -> S3Server:
    server = S3Server()
    atexit.register(server.stop)
    return server
