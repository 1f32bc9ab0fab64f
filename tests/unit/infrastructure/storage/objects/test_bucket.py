"""What the AWS variables make of a request."""

from __future__ import annotations

import socket

import pytest

from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.bucket import Bucket, Limits
from infrastructure.storage.objects.errors import ObjectsFailed
from tests.fakes.s3 import ACCESS_KEY, environment_of
from tests.fakes.tcp_servers import server

AT_ONCE = Limits(request_s=10, retry_s=0)


def request_with(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> str:
    """`HERE` is the address of the server that gets it."""
    received = []

    def serve(connection: socket.socket) -> None:
        received.append(connection.recv(1 << 16).decode())
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    for name in environment_of("", AWS_DEFAULT_REGION="", AWS_ENDPOINT_URL=""):
        monkeypatch.delenv(name, raising=False)
    with server(serve) as address:
        for name, value in variables.items():
            monkeypatch.setenv(name, value.replace("HERE", address))
        with pytest.raises(ObjectsFailed, match="responds 403"):
            Bucket(ObjectsAddress("acme", "x"), AT_ONCE, AT_ONCE).read("1/a", 3, 4)
    [request] = received
    return request


KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": "secret"}


@pytest.mark.parametrize(
    "endpoints",
    [
        {"AWS_ENDPOINT_URL": "http://HERE"},
        {"AWS_ENDPOINT_URL": "http://HERE/"},
        {"AWS_ENDPOINT_URL_S3": "http://HERE", "AWS_ENDPOINT_URL": "http://objects.invalid"},
        {"AWS_ENDPOINT_URL_S3": "http://HERE", "AWS_ENDPOINT_URL": "https://objects.invalid"},
    ],
)
def test_the_endpoint_of_s3_goes_before_that_of_all_services(
    monkeypatch: pytest.MonkeyPatch, endpoints: dict[str, str]
) -> None:
    request = request_with(monkeypatch, KEYS | endpoints)
    assert request.startswith("GET /acme/x/1/a HTTP/1.1\r\n")
    assert "\r\nrange: bytes=3-6\r\n" in request


@pytest.mark.parametrize(
    "variables, region",
    [
        ({}, "us-east-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-north-1"}, "eu-north-1"),
    ],
)
def test_a_request_is_signed_for_a_region(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], region: str
) -> None:
    here = {"AWS_ENDPOINT_URL": "http://HERE"}
    request = request_with(monkeypatch, KEYS | here | variables)
    assert f"Credential={ACCESS_KEY}/" in request
    assert f"/{region}/s3/aws4_request" in request


def test_a_session_token_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"AWS_ENDPOINT_URL": "http://HERE", "AWS_SESSION_TOKEN": "for-an-hour"}
    request = request_with(monkeypatch, KEYS | here)
    assert "\r\nx-amz-security-token: for-an-hour\r\n" in request
