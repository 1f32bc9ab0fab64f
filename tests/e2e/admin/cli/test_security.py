"""`ottla user`, `acl`, `quota` and `cert`, against a broker with TLS, SASL and ACLs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.configs.settings.access import STANDARD_AUTHORIZER
from infrastructure.security.authority import AUTHORITY, BROKER, FOLDER, issue, make_authority
from tests.e2e.admin.cli.conftest import Ottla, Output
from tests.e2e.broker_process import Address, BrokerProcess

ADMIN, PASSWORD = "boss", "PaSs-of-boss-4711"
_PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


class Secured:
    def __init__(self, bootstrap: str, authority: Path) -> None:
        self._ottla = Ottla(bootstrap)
        self._authority = authority

    def run(
        self,
        *words: str,
        user: str = ADMIN,
        password: str = PASSWORD,
        mechanism: str = "PLAIN",
        stdin: bytes = b"",
        code: int = 0,
    ) -> Output:
        options = {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self._authority),
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }
        given = [word for one in options.items() for word in ("-X", "=".join(one))]
        return self._ottla.run(*words, *given, stdin=stdin, code=code)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    tls, now = folder / FOLDER, datetime.now(UTC)
    make_authority(tls, now)
    issue(tls, ["127.0.0.1"], now)
    settings = {
        "listener.security.protocol.map": "SAFE:SASL_SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tls / BROKER),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.safe.plain.sasl.jaas.config": f"{_PLAIN_LOGIN} required "
        f'user_{ADMIN}="{PASSWORD}";',
        "authorizer.class.name": STANDARD_AUTHORIZER,
        "super.users": f"User:{ADMIN}",
    }
    options = [word for one in settings.items() for word in ("--set", "=".join(one))]
    with BrokerProcess(folder, "memory", ("--listen", "SAFE://127.0.0.1:0", *options)) as broker:
        [found] = broker.ready["listeners"]
        yield Secured(Address(found["host"], found["port"]).bootstrap, tls / AUTHORITY)
        assert PASSWORD not in broker.log(1 << 20)


def test_users_log_in_with_their_passwords_until_they_are_deleted(secured: Secured) -> None:
    login = {"user": "alice", "mechanism": "SCRAM-SHA-512"}
    secured.run("user", "add", "alice", "--password", "first")
    assert "exists" in secured.run("user", "add", "alice", "--password", "x", code=1).errors
    [row] = json.loads(secured.run("user", "list", "-o", "json").out)
    assert (row["user"], row["mechanisms"]) == ("alice", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
    secured.run("topic", "list", password="first", **login)

    made = secured.run("user", "password", "alice", "--generate").lines[-1]
    password = made.removeprefix("password: ")
    refused = secured.run("txn", "list", password="first", code=1, **login)
    assert "invalid credentials" in refused.errors
    secured.run("txn", "list", password=password, **login)

    secured.run("user", "delete", "alice", "-y")
    assert "does not exist" in secured.run("user", "delete", "alice", "-y", code=1).errors


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("add", "dora", "--password", "x"),
        ("password", "carl", "--password", "x"),
        ("delete", "carl", "-y"),
    ],
)
def test_users_are_for_those_who_may_describe_the_cluster(
    secured: Secured, words: tuple[str, ...]
) -> None:
    if "carl" not in secured.run("user", "list").out:
        secured.run("user", "add", "carl", "--password", "secret")
    carl = {"user": "carl", "password": "secret", "mechanism": "SCRAM-SHA-512"}
    refused = secured.run("user", *words, code=1, **carl)
    assert refused.errors.startswith("ottla: the users: ")
    assert "is not authorized" in refused.errors


@pytest.fixture(scope="module")
def nobody(secured: Secured) -> dict[str, str]:
    """A user without ACLs."""
    secured.run("user", "add", "eve", "--password", "secret")
    return {"user": "eve", "password": "secret", "mechanism": "SCRAM-SHA-512"}


@pytest.mark.parametrize("topic", ["new", "there"])
def test_records_of_a_user_without_rights_are_refused_in_one_line(
    secured: Secured, nobody: dict[str, str], topic: str, capfd: pytest.CaptureFixture[str]
) -> None:
    secured.run("topic", "create", "there", "--if-not-exists")
    refused = secured.run("produce", "-t", topic, stdin=b"a\n", code=1, **nobody).errors
    assert refused.count("\n") == 1, refused
    assert refused.startswith("ottla: ")
    assert "AUTHORIZATION_FAILED" in refused
    assert capfd.readouterr().err == ""  # of librdkafka


@pytest.mark.parametrize(
    "words",
    [
        ("consume", "there"),
        ("consume", "there", "--wait"),
        ("consume", "there", "-g", "any"),
        ("topic", "describe", "there"),
        ("offsets", "there"),
    ],
)
def test_a_topic_that_the_user_may_not_describe_is_not_reported_as_missing(
    secured: Secured, nobody: dict[str, str], words: tuple[str, ...]
) -> None:
    refused = secured.run(*words, code=1, **nobody).errors
    assert (
        refused == "ottla: topic there: Topic authorization failed (TOPIC_AUTHORIZATION_FAILED)\n"
    )
    assert "there.is-not does not exist" in secured.run("offsets", "there.is-not", code=1).errors


def test_records_are_read_without_a_right_to_a_group(secured: Secured, tmp_path: Path) -> None:
    secured.run("user", "add", "rea", "--password", "secret")
    secured.run("acl", "add", "rea", "--operation", "read", "--topic", "read-only")
    secured.run("topic", "create", "read-only")
    secured.run("produce", "-t", "read-only", stdin=b"a\nb\n")
    rea = {"user": "rea", "password": "secret", "mechanism": "SCRAM-SHA-512"}
    assert secured.run("consume", "read-only", "--exit", **rea).lines == ["a", "b"]
    secured.run("topic", "download", "read-only", str(tmp_path / "file"), **rea)
    refused = secured.run("consume", "read-only", "-g", "others", code=1, **rea).errors
    assert "GROUP_AUTHORIZATION_FAILED" in refused


def test_acls_decide_what_a_user_may_do_and_test_says_which(secured: Secured) -> None:
    secured.run("topic", "create", "orders", "payments")
    secured.run("user", "add", "bob", "--password", "secret")
    bob = {"user": "bob", "password": "secret", "mechanism": "SCRAM-SHA-512"}
    assert not secured.run("topic", "list", **bob).rows
    ask = ("acl", "test", "bob", "write", "--topic", "orders")
    assert secured.run(*ask, code=1).out == "no: no ACL allows User:bob write of orders\n"

    secured.run("acl", "add", "bob", "--producer", "--topic", "ord", "--prefixed")
    assert secured.run(*ask).out == "yes: User:bob: allow write topic ord*\n"
    assert [row[0] for row in secured.run("topic", "list", **bob).rows] == ["orders"]

    secured.run("acl", "add", "bob", "--deny", "--operation", "write", "--topic", "orders")
    assert secured.run(*ask, code=1).out == "no: User:bob: deny write topic orders\n"
    assert "super.users" in secured.run("acl", "test", ADMIN, "alter", "--cluster").out
    refused = secured.run("acl", "list", code=1, **bob).errors
    assert "Request DescribeAcls is not authorized" in refused

    assert len(secured.run("acl", "list", "bob").rows) == 4
    secured.run("acl", "delete", "bob", "--topic", "orders", "-y")
    assert secured.run(*ask).out == "yes: User:bob: allow write topic ord*\n"
    secured.run("acl", "delete", "bob", "-y")
    assert not secured.run("acl", "list", "bob").rows


def test_quotas_are_set_listed_and_removed(secured: Secured) -> None:
    secured.run("quota", "set", "--user", "bob", "producer_byte_rate=1048576")
    secured.run("quota", "set", "--default-client-id", "request_percentage=50.5")
    listed = json.loads(secured.run("quota", "list", "-o", "json").out)
    assert listed == [
        {"client_id": "<default>", "quota": "request_percentage", "value": 50.5},
        {"user": "bob", "quota": "producer_byte_rate", "value": 1048576},
    ]
    secured.run("quota", "set", "--user", "bob", "--remove", "producer_byte_rate")
    assert not secured.run("quota", "list", "--user", "bob").rows
    refused = secured.run("quota", "set", "--user", "bob", "producer_byte_rate=-1", code=1)
    assert "must be greater than 0" in refused.errors
