"""The servers of S3 of this process of tests."""

from __future__ import annotations

import atexit
from functools import cache

import pytest

from tests.fakes.s3 import MotoServer, S3Server, VersityGateway
from tests.fakes.versitygw import BUILD_TIMEOUT_S

_LONG = [pytest.mark.long, pytest.mark.timeout(BUILD_TIMEOUT_S)]
#: For a fixture with parameters.
S3_SERVERS = [
    pytest.param(MotoServer, id="moto"),
    pytest.param(VersityGateway, id="versitygw", marks=_LONG),
]


@cache
def running_s3(kind: type[MotoServer | VersityGateway] = MotoServer) -> S3Server:
    server = kind()
    atexit.register(server.stop)
    return server
