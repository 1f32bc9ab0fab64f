from __future__ import annotations

import pytest

from infrastructure.storage.errors import UnknownStorage
from infrastructure.storage.objects.address import ObjectsAddress, parse_objects


@pytest.mark.parametrize(
    "url, address",
    [
        ("s3://acme", ObjectsAddress("acme")),
        ("s3://acme/", ObjectsAddress("acme")),
        ("s3://acme-1.x/ottla", ObjectsAddress("acme-1.x", "ottla")),
        ("s3://acme//a/b=1/c.d_e-f//", ObjectsAddress("acme", "a/b=1/c.d_e-f")),
        ("s3://acme/.a/..b", ObjectsAddress("acme", ".a/..b")),
    ],
)
def test_a_url_names_bucket_and_prefix(url: str, address: ObjectsAddress) -> None:
    assert parse_objects(url) == address
    assert parse_objects(address.url) == address
    assert address.shown == address.url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "acme",
        "s3:acme",
        "s3://",
        "s3:///prefix",
        "S3://acme",
        "gs://acme",
        "https://acme.s3.amazonaws.com",
        "s3://acme:9000/x",
        "s3://acme?region=eu-west-1",
        "s3://acme/a#b",
        "s3://acme/a//b",
        "s3://acme/a/../b",
        "s3://acme/.",
        "s3://acme/a b",
        "s3://acme/a%20b",
        "s3://acme/a\nb",
        "s3://a",
    ],
)
def test_anything_else_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(
        UnknownStorage, match="is not s3://bucket/prefix with plain names"
    ) as refused:
        parse_objects(url)
    assert "\n" not in str(refused.value)


def test_credentials_in_the_url_are_refused_and_not_shown() -> None:
    with pytest.raises(UnknownStorage, match="AWS_SECRET_ACCESS_KEY") as refused:
        parse_objects("s3://key:hunter2@acme/x")
    assert "hunter2" not in str(refused.value)
