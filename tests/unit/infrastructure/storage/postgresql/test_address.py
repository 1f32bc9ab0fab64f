from __future__ import annotations

import pytest

from infrastructure.storage.errors import StorageUnusable, UnknownStorage
from infrastructure.storage.postgresql.address import Address, parse_address


@pytest.mark.parametrize(
    "place, url, schema",
    [
        ("h/db", "h/db", "ottla"),
        ("h/db?schema=one", "h/db", "one"),
        ("h/db?schema=one&schema=%74wo", "h/db", "two"),
        # libpq reads a plus as a plus.
        (
            "u:p%2B+@h/db?options=-c%20a%3Db&schema=one&password=x+y",
            "u:p%2B+@h/db?options=-c%20a%3Db&password=x+y",
            "one",
        ),
        ("h/db?", "h/db", "ottla"),
        (f"h/db?schema={'a' * 57}", "h/db", "a" * 57),
    ],
)
def test_the_schema_is_ours_and_the_rest_is_for_libpq(place: str, url: str, schema: str) -> None:
    assert parse_address(place) == Address(f"postgresql://{url}", schema)


@pytest.mark.parametrize("schema", ["", "A", "1a", "a-b", "a%2Eb", 'a"'])
def test_a_schema_that_needs_quotes_is_refused(schema: str) -> None:
    with pytest.raises(UnknownStorage, match="is not a plain name of PostgreSQL"):
        parse_address(f"h/db?schema={schema}")


def test_a_schema_that_is_no_channel_is_refused() -> None:
    """NOTIFY has the name of the schema."""
    with pytest.raises(UnknownStorage, match=r"schema=a+ is longer than 57 characters"):
        parse_address(f"h/db?schema={'a' * 58}")


def test_large_commits_go_to_objects_if_asked_for() -> None:
    assert not parse_address("h/db").commits_to_objects
    assert not parse_address("h/db?commit.to=database").commits_to_objects
    assert parse_address("h/db?commit.to=objects") == Address(
        "postgresql://h/db", "ottla", commits_to_objects=True
    )
    with pytest.raises(UnknownStorage, match=r"commit\.to=s3 is neither database nor objects"):
        parse_address("h/db?commit.to=s3")


def test_a_store_has_its_objects_where_they_were_named_first() -> None:
    plain, named = parse_address("h/db"), parse_address("h/db?objects=s3://bucket/a")
    assert plain.objects_of(None) is None
    assert named.objects_of(None) == named.objects
    assert plain.objects_of("s3://bucket/a") == named.objects_of("s3://bucket/a") == named.objects
    with pytest.raises(
        StorageUnusable, match="has its objects in s3://other, not in s3://bucket/a"
    ):
        named.objects_of("s3://other")
    to_objects = parse_address("h/db?commit.to=objects")
    assert to_objects.objects_of("s3://bucket/a") == named.objects
    with pytest.raises(StorageUnusable, match=r"commit\.to=objects needs objects="):
        to_objects.objects_of(None)


def test_a_copy_beside_it_remembers_what_a_store_remembers() -> None:
    named = parse_address("h/db?objects=s3://bucket/a&schema=one&delete.delay.ms=5&sslmode=require")
    other = parse_address(named.in_other_schema("two"))
    assert (other.schema, other.objects) == ("two", named.objects)
    assert other.delete_delay_ms == 5
    assert other.url == named.url
    plain = parse_address("h/db")
    assert parse_address(plain.in_other_schema("two")) == Address("postgresql://h/db", "two")


def test_the_password_is_not_shown() -> None:
    assert parse_address("me:hunter2@h/db").shown == "postgresql://me:***@h/db"
