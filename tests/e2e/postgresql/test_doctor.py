"""`ottla doctor --storage` against a real PostgreSQL."""

from __future__ import annotations

import pytest

from tests.contract.postgres_server import running_postgres
from tests.contract.s3_objects import Objects
from tests.contract.s3_server import running_s3
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.postgresql.conftest import PASSWORD, StartStored, store_url


def doctor(url: str, code: int = 0) -> str:
    done = Ottla("127.0.0.1:1").run("doctor", "--storage", url, code=code)
    assert PASSWORD not in done.out + done.errors
    return done.out


def test_a_server_is_examined_and_stays_as_it_is(url: str, start_stored: StartStored) -> None:
    before = doctor(url)
    assert "the schema has no store yet" in before
    assert "no synchronous standby: there is one copy" in before
    assert "ok       autovacuum is on" in before
    schema = url.rpartition("=")[2]
    assert running_postgres().execute(f"select to_regnamespace('{schema}')") == [(None,)]
    broker = start_stored()
    assert "ok       brokers of the store: 1" in doctor(url).splitlines()
    assert broker.terminate() == 0


def test_what_is_wrong_ends_with_an_error() -> None:
    server = running_postgres()
    server.execute(
        "drop role if exists hasty", "create role hasty login connection limit 3",
        "alter role hasty set synchronous_commit = off",
    )  # fmt: skip
    found = doctor(store_url("s", "hasty"), code=1)
    assert "synchronous_commit is off" in found
    assert "7 are needed for 1 broker. Remedy: raise max_connections" in found
    for unreachable in (store_url("s", database="nope"), "postgresql://me@127.0.0.1:1/kafka"):
        [line] = doctor(unreachable, code=1).splitlines()
        assert line.startswith("problem  a broker cannot use postgresql://")
        assert "Remedy: PostgreSQL must run, and accept what the URL has" in line
    assert Ottla("127.0.0.1:1").run("doctor", "--storage", "lmdb://", code=2).errors


def test_the_bucket_of_a_new_store_is_checked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in running_s3().environment.items():
        monkeypatch.setenv(name, value)
    objects = Objects(running_s3())
    found = doctor(url + objects.url)
    assert f"ok       objects can be written to {objects.shown}, read, listed" in found
    assert "the schema has no store yet" in found and objects.names() == []
    refused = doctor(f"{url}&objects=s3://none/a", code=1)
    [line] = [one for one in refused.splitlines() if "s3://" in one]
    assert "objects cannot be used: s3://none/a/probe-" in line
    assert "there is no such bucket. Remedy: see docs/storage.md" in line
