"""Objects in a bucket of a real server: what is written is what is read, and what is not there."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.bucket import Bucket
from infrastructure.storage.objects.errors import ObjectDamaged, ObjectMissing
from infrastructure.storage.objects.opening import open_bucket
from tests.fakes.s3 import MotoServer, S3Server


@pytest.fixture(params=["", "some/prefix"], ids=["top", "prefix"])
def bucket(s3: S3Server, request: pytest.FixtureRequest) -> Bucket:
    return open_bucket(ObjectsAddress(s3.new_bucket(), request.param))


def test_a_part_of_an_object_is_read(bucket: Bucket) -> None:
    bucket.put("1/a", b"0123456789")
    assert bucket.read("1/a", 0, 10) == b"0123456789"
    assert bucket.read("1/a", 3, 4) == b"3456"
    assert bucket.read("1/a", 9, 1) == b"9"
    assert bucket.read("1/a", 5, 0) == b""


def test_an_object_of_64_mb_is_written_at_once(bucket: Bucket) -> None:
    data = bytes(range(256)) * (1 << 18)
    bucket.put("large", data)
    assert bucket.read("large", (1 << 26) - 256, 256) == data[:256]
    assert list(bucket.names()) == [("large", 1 << 26)]


def test_an_object_is_replaced(bucket: Bucket) -> None:
    bucket.put("a", b"old")
    bucket.put("a", b"newer")
    assert bucket.read("a", 0, 5) == b"newer"


def test_what_is_not_there_is_missing(bucket: Bucket) -> None:
    with pytest.raises(ObjectMissing, match=f"^{bucket.address.url}/1/a is missing$"):
        bucket.read("1/a", 0, 10)


@pytest.mark.parametrize("position, size_bytes", [(0, 11), (9, 2), (10, 1), (100, 5)])
def test_an_object_that_is_too_short_is_damaged(
    bucket: Bucket, position: int, size_bytes: int
) -> None:
    bucket.put("a", b"0123456789")
    with pytest.raises(ObjectDamaged, match=r"/a is shorter than it was written$") as raised:
        bucket.read("a", position, size_bytes)
    assert raised.type is not ObjectMissing


def test_names_below_the_prefix_come_in_pages(s3: S3Server) -> None:
    name = s3.new_bucket()
    bucket, other = (Bucket(ObjectsAddress(name, prefix)) for prefix in ("a/b", "a/bc"))
    other.put("foreign", b"")
    # As a console of S3 makes a folder.
    s3.client.put_object(Bucket=name, Key="a/b/")
    expected = [(f"{number // 4}/{number}", number) for number in range(8)]
    for one, size_bytes in expected:
        bucket.put(one, bytes(size_bytes))
    assert sorted(bucket.names()) == expected


def test_deleted_objects_are_missing(bucket: Bucket) -> None:
    for name in ("a", "b", "c"):
        bucket.put(name, b"x")
    bucket.delete(["a", "never-there", "c"])
    bucket.delete(["a"])
    bucket.delete([])
    assert [name for name, _ in bucket.names()] == ["b"]


def test_an_empty_bucket_has_no_names(bucket: Bucket) -> None:
    assert list(bucket.names()) == []


def test_threads_share_a_bucket(bucket: Bucket) -> None:
    start = threading.Barrier(8)

    def write_and_read(number: int) -> bytes:
        start.wait()
        bucket.put(f"{number}", b"%d" % number)
        return bucket.read(f"{number}", 0, 1)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(write_and_read, range(8))) == [b"%d" % one for one in range(8)]


def test_the_check_leaves_nothing(bucket: Bucket) -> None:
    bucket.check()
    assert list(bucket.names()) == []


def test_the_check_refuses_a_bucket_that_does_not_exist(s3: S3Server) -> None:
    with pytest.raises(
        StorageUnusable, match=r"^s3://none/probe-\w+ cannot be written: there is no"
    ):
        Bucket(ObjectsAddress("none")).check()


@pytest.mark.long
@pytest.mark.parametrize(
    "variable, reason",
    [
        ("AWS_ACCESS_KEY_ID", "access key"),
        ("AWS_SECRET_ACCESS_KEY", "the secret key is wrong"),
        ("AWS_REGION", "the region is wrong"),
    ],
)
def test_a_server_that_checks_signatures_refuses_others(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch, variable: str, reason: str
) -> None:
    if isinstance(s3, MotoServer):
        return
    address = ObjectsAddress(s3.new_bucket())
    monkeypatch.setenv(variable, "another")
    with pytest.raises(StorageUnusable, match=reason):
        Bucket(address).check()
