"""Stores in PostgreSQL that are not opened: one line says why, without the password."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.postgresql.facts import examined
from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import PATIENCE_S, command, environment
from tests.e2e.postgresql.conftest import PASSWORD, StartStored, store_url


def refused(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        command("serve", "--listen", "127.0.0.1:0", "--admin", "off", *arguments),
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert PASSWORD not in line
    return line


def why_not(url: str) -> str:
    with pytest.raises(StorageUnusable) as refusal:
        open_storage(url).commit.close()
    [line] = str(refusal.value).splitlines()
    assert PASSWORD not in line
    return line


def schema_of(url: str) -> str:
    return url.rpartition("=")[2]


def test_a_second_broker_is_refused(start_stored: StartStored, url: str, tmp_path: Path) -> None:
    broker = start_stored()
    line = refused(tmp_path, "--storage", url)
    shown = re.escape(url.replace(PASSWORD, "***"))
    in_use = rf"node\.id \d+ is in use by process {broker.pid} on .+"
    assert re.fullmatch(f"ottla: cannot open {shown}: {in_use}", line)
    with broker.connect() as client:  # which goes on
        assert client.create_topic("t") == 0


def test_a_wrong_password_is_refused(url: str, tmp_path: Path) -> None:
    server = running_postgres()
    access = server.folder / "data" / "pg_hba.conf"
    server.execute("drop role if exists stranger", "create role stranger login password 'other'")
    access.write_text(f"local all stranger scram-sha-256\n{access.read_text()}")
    server.execute("select pg_reload_conf()")
    line = refused(tmp_path, "--storage", store_url("never", "stranger"))
    assert line.endswith('password authentication failed for user "stranger"')
    # The new rules are in force, so no store was made.
    assert server.execute("select to_regnamespace('never')") == [(None,)]


@pytest.mark.parametrize("place", ["127.0.0.1:1/db", "127.0.0.1:1,127.0.0.1:2/db"])
def test_an_unreachable_server_is_refused(place: str) -> None:
    line = why_not(f"postgresql://me:{PASSWORD}@{place}?connect_timeout=2")
    assert "connection failed" in line
    assert "Connection refused" in line


@pytest.mark.parametrize(
    "rest, expected",
    [
        ("%2@h/db", "invalid percent-encoded token"),
        ("@[::1]x/db", 'unexpected character "x" at position \\d+ in URI .*'),
        ("@h/db?sslmod=require", 'invalid URI query parameter: "sslmod"'),
    ],
)
def test_what_libpq_says_about_a_url_has_no_password(rest: str, expected: str) -> None:
    assert re.fullmatch(expected, why_not(f"postgresql://me:{PASSWORD}{rest}"))


def test_a_database_that_does_not_exist_is_refused() -> None:
    assert 'database "nope" does not exist' in why_not(store_url("s", database="nope"))


def test_a_database_in_another_encoding_is_refused() -> None:
    running_postgres().execute(
        "drop database if exists plain",
        "create database plain template template0 encoding 'SQL_ASCII' locale 'C'",
    )
    assert "encoding SQL_ASCII" in why_not(store_url("s", database="plain"))


def test_tables_of_something_else_are_refused(url: str) -> None:
    schema = schema_of(url)
    running_postgres().execute(
        f"create schema {schema}", f"create table {schema}.ottla_rows (x text)"
    )
    assert why_not(url) == f"schema {schema} has ottla_rows, but no ottla_store: it is no store"


def test_a_newer_format_is_refused(url: str) -> None:
    open_storage(url).commit.close()
    running_postgres().execute(f"update {schema_of(url)}.ottla_store set format = 1000")
    assert why_not(url).startswith("it has format 1000; this version of Ottla reads format ")


def test_a_role_without_rights_is_refused(url: str) -> None:
    """The doctor says the same: what is to be granted."""
    schema = schema_of(url)
    weak = store_url(schema, "weak")
    running_postgres().execute("drop role if exists weak", "create role weak login")
    with_usage = f"create schema {schema}", f"grant usage on schema {schema} to weak"
    for where, first in (("database postgres", ["select 1"]), (f"schema {schema}", with_usage)):
        running_postgres().execute(*first)
        expected = f"there is no store, and weak may not make one: grant create on {where} to weak"
        assert why_not(weak) == expected
        assert examined(weak.removeprefix("postgresql://")).not_made == expected
    running_postgres().execute(f"grant create on schema {schema} to weak")
    assert examined(weak.removeprefix("postgresql://")).not_made is None
    open_storage(weak).commit.close()
    running_postgres().execute("drop owned by weak", "drop role weak")


def test_a_role_that_does_not_own_the_tables_is_refused(url: str) -> None:
    """It could make no further ones, and drop none."""
    open_storage(url).commit.close()
    schema = schema_of(url)
    running_postgres().execute(
        "drop role if exists guest", "create role guest login",
        f"grant usage, create on schema {schema} to guest",
        f"grant select, insert, update, delete on all tables in schema {schema} to guest",
    )  # fmt: skip
    assert why_not(store_url(schema, "guest")) == (
        f"the role must own the tables in schema {schema}, and may have to create some"
    )
    running_postgres().execute("drop owned by guest", "drop role guest")


def test_parameters_of_libpq_are_passed_on(url: str) -> None:
    """Also those with a space, which the engine must not write as a plus."""
    schema = schema_of(url)
    running_postgres().execute(f"create schema {schema}")
    option = "options=-c%20log_statement_stats%3Doff%20-c%20default_tablespace%3Dnope"
    assert "nope" in why_not(f"{url}&{option}")
