"""What an operator reads, for responses as S3 sends them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.bucket import Bucket, Limits
from infrastructure.storage.objects.errors import ObjectsFailed
from tests.fakes.s3 import ACCESS_KEY, SECRET_KEY, environment_of
from tests.fakes.tcp_servers import Serve, responding, server

AT_ONCE = Limits(request_s=10, retry_s=0)
REGION_IS_WRONG = "the region is wrong (AWS_REGION)"
BucketAt = Callable[..., Bucket]


@pytest.fixture
def bucket_at(monkeypatch: pytest.MonkeyPatch) -> BucketAt:
    def bucket(endpoint: str, **others: str) -> Bucket:
        for name, value in environment_of(endpoint, **others).items():
            monkeypatch.setenv(name, value)
        return Bucket(ObjectsAddress("acme", "x"), AT_ONCE, AT_ONCE)

    return bucket


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address at which no server listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def http(status: str, body: str = "") -> Serve:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return responding((head + body).encode())


def refusal(status: str, code: str, message: str = "") -> Serve:
    error = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    return http(status, f"<?xml version='1.0'?>\n{error}")


def reason(bucket: Bucket) -> str:
    with pytest.raises(ObjectsFailed) as failed:
        bucket.read("a", 0, 1)
    message = str(failed.value)
    assert SECRET_KEY not in message
    assert ACCESS_KEY not in message
    place, _, explained = message.partition(" cannot be read: ")
    assert place == "s3://acme/x/a"
    return explained


@pytest.mark.parametrize(
    "status, code, explained",
    [
        ("404 Not Found", "NoSuchBucket", "there is no such bucket"),
        ("403 Forbidden", "AccessDenied", "access denied"),
        ("403 Forbidden", "InvalidAccessKeyId", "the access key is not known (AWS_ACCESS_KEY_ID)"),
        (
            "403 Forbidden",
            "SignatureDoesNotMatch",
            "the secret key is wrong (AWS_SECRET_ACCESS_KEY)",
        ),
        ("400 Bad Request", "ExpiredToken", "the credentials have expired (AWS_SESSION_TOKEN)"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", REGION_IS_WRONG),
        ("301 Moved Permanently", "PermanentRedirect", REGION_IS_WRONG),
        ("503 Slow Down", "SlowDown", "SlowDown: Please reduce your rate."),
        ("418 Teapot", "Other", "Other: Please reduce your rate."),
    ],
)
def test_a_refusal_is_explained(
    bucket_at: BucketAt, status: str, code: str, explained: str
) -> None:
    with server(refusal(status, code, "Please reduce\n your rate.")) as address:
        assert reason(bucket_at(f"http://{address}")) == explained


def test_a_404_of_another_server_does_not_say_that_an_object_is_missing(
    bucket_at: BucketAt,
) -> None:
    with server(http("404 Not Found", "<html>")) as address:
        url = f"http://{address}"
        assert reason(bucket_at(url)) == f"{url} responds 404 Not Found"


def test_a_response_that_ends_too_early_is_named(bucket_at: BucketAt) -> None:
    head = "HTTP/1.1 206 Partial Content\r\nContent-Length: 1\r\nContent-Range: bytes 0-0/9\r\n"
    others = "ETag: x\r\nLast-Modified: Tue, 03 Jan 2023 10:00:00 GMT\r\n\r\n"
    with server(responding(f"{head}{others}".encode())) as address:
        assert reason(bucket_at(f"http://{address}")) == "the server closed the connection"


def test_a_server_that_does_not_know_ranges_is_refused(bucket_at: BucketAt) -> None:
    with server(http("200 OK", "all of it")) as address:
        explained = "Received non-partial response when range requested"
        assert reason(bucket_at(f"http://{address}")) == explained


def test_an_object_that_may_not_be_deleted_is_named(bucket_at: BucketAt) -> None:
    """The request succeeds as a whole."""
    key, code = "<Key>x/a</Key>", "<Code>AccessDenied</Code><Message>Access Denied</Message>"
    body = f"<DeleteResult><Error>{key}{code}</Error></DeleteResult>"
    with server(http("200 OK", body)) as address:
        bucket = bucket_at(f"http://{address}")
        with pytest.raises(ObjectsFailed, match=r"^s3://acme/x/a cannot be deleted: access denied"):
            bucket.delete(["a"])


def test_a_server_that_does_not_speak_http_is_refused(bucket_at: BucketAt) -> None:
    with server(responding(b"220 hello\r\n")) as address:
        assert reason(bucket_at(f"http://{address}")) == "HTTP error: error sending request"


def test_a_server_that_does_not_listen_is_named(bucket_at: BucketAt, nowhere: str) -> None:
    url = f"http://{nowhere}"
    assert reason(bucket_at(url)) == f"{url} cannot be reached: Connection refused"


def test_a_host_that_does_not_exist_is_named(bucket_at: BucketAt) -> None:
    found = reason(bucket_at("http://user:hunter2@objects.invalid:9000"))
    assert found.startswith("http://objects.invalid:9000 cannot be reached: failed to lookup")
    assert "hunter2" not in found


def test_a_port_without_tls_is_named(bucket_at: BucketAt) -> None:
    with server(responding(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as address:
        url = f"https://{address}"
        assert reason(bucket_at(url)) == f"{url} cannot be reached"


def test_missing_credentials_are_named(
    bucket_at: BucketAt, nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of an instance are asked for, too."""
    url = f"http://{nowhere}"
    bucket_at(url, AWS_METADATA_ENDPOINT=url)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    explained = reason(Bucket(ObjectsAddress("acme", "x"), AT_ONCE, AT_ONCE))
    assert explained.startswith("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")


@pytest.mark.parametrize("variable", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_half_of_the_credentials_is_refused_at_once(
    bucket_at: BucketAt, nowhere: str, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    url = f"http://{nowhere}"
    bucket_at(url, AWS_METADATA_ENDPOINT=url)
    monkeypatch.delenv(variable)
    with pytest.raises(StorageUnusable, match=r"^s3://acme/x: no credentials: set AWS_ACCESS_KEY"):
        Bucket(ObjectsAddress("acme", "x"), AT_ONCE, AT_ONCE)


def test_the_check_reports_the_same_reasons(bucket_at: BucketAt) -> None:
    with server(refusal("404 Not Found", "NoSuchBucket")) as address:
        bucket = bucket_at(f"http://{address}")
        with pytest.raises(StorageUnusable, match=r"cannot be written: there is no such bucket$"):
            bucket.check()
