from __future__ import annotations

import pytest

from application.ports.log_store import NotInMemory
from application.ports.request_log import Requester
from application.security.users import Deletion, Upsertion
from domain.errors import StorageFailed
from domain.security.principal import Principal
from domain.security.scram import Decoys, ScramMechanism
from tests.fakes.broker import FakeBroker
from tests.fakes.following_brokers import FollowingBrokers
from tests.fakes.results import results_of
from tests.fakes.sasl import PASSWORD, SALT, credential, salted

SHA_256, SHA_512 = ScramMechanism


def upsertion(user: str, mechanism: ScramMechanism = SHA_256) -> Upsertion:
    return Upsertion(user, mechanism, 4096, SALT, salted(PASSWORD, mechanism))


def test_a_credential_counts_when_it_is_durable() -> None:
    kafka = FakeBroker()
    users = kafka.broker.security.users
    altered = users.alter([], [upsertion("ann")])
    assert users.describe(None) == {}
    assert not users.find("ann", SHA_256).matches(salted(PASSWORD, SHA_256))
    kafka.run()
    assert results_of(altered) == [{"ann": None}]
    assert users.describe(None) == {"ann": {SHA_256: credential()}}
    assert users.find("ann", SHA_256).matches(salted(PASSWORD, SHA_256))


def test_a_failed_commit_is_the_result_of_its_users_only() -> None:
    kafka = FakeBroker()
    users = kafka.broker.security.users
    altered = users.alter([Deletion("bob", SHA_256)], [upsertion("ann")])
    kafka.commit.fail_next()
    kafka.run()
    [results] = results_of(altered)
    assert isinstance(results["ann"], StorageFailed)
    assert results["bob"] is not None and not isinstance(results["bob"], StorageFailed)
    assert users.describe(None) == {}


def test_decisions_see_changes_that_are_not_durable_yet() -> None:
    kafka = FakeBroker()
    users = kafka.broker.security.users
    users.alter([], [upsertion("ann")])
    users.alter([], [upsertion("ann", SHA_512)])
    users.alter([Deletion("ann", SHA_256)], [])
    kafka.run()
    assert users.describe(["ann"]) == {"ann": {SHA_512: credential(mechanism=SHA_512)}}


def test_users_survive_a_restart() -> None:
    kafka = FakeBroker()
    users = kafka.broker.security.users
    users.alter([], [upsertion("ann")])
    kafka.run()
    assert kafka.core.users.load() == {"ann": {SHA_256: credential()}}


def test_an_unknown_user_has_the_same_salt_each_time_and_no_password_matches() -> None:
    decoys = Decoys(b"secret of the store")
    first, second = (decoys.credential("ann", SHA_256) for _ in range(2))
    assert first == second
    assert (len(first.salt), first.iterations) == (16, 4096)
    assert first.salt != decoys.credential("bob", SHA_256).salt
    assert first.salt != decoys.credential("ann", SHA_512).salt
    assert first.salt != Decoys(b"of another store").credential("ann", SHA_256).salt
    assert not first.matches(salted(PASSWORD, SHA_256))


def test_alterations_are_logged_without_secrets() -> None:
    kafka = FakeBroker()
    by = Requester(Principal("User", "root"), "tool", "192.0.2.7:1")
    kafka.broker.security.users.alter([], [upsertion("ann")], by)
    kafka.run()
    kafka.broker.security.users.alter([Deletion("ann", SHA_256)], [], by)
    kafka.run()
    logged = kafka.events.of("user_credential_altered")
    assert [(one["user"], one["mechanism"], one["action"]) for one in logged] == [
        ("ann", "SCRAM-SHA-256", "set"),
        ("ann", "SCRAM-SHA-256", "deleted"),
    ]
    assert logged[0]["principal"] == "User:root"


def test_no_repr_has_a_secret() -> None:
    secrets = [salted(PASSWORD, SHA_256), SALT, credential().stored_key, credential().server_key]
    for shown in map(repr, (upsertion("ann"), credential(), {SHA_256: credential()})):
        assert not any(repr(secret)[2:-1] in shown for secret in secrets)


def test_users_of_another_broker_are_followed() -> None:
    two = FollowingBrokers()
    users = two.second.broker.security.users
    two.first.broker.security.users.alter([], [upsertion("ann")])
    assert users.revision == 0
    two.run()
    assert users.describe(None) == {"ann": {SHA_256: credential()}}
    assert users.revision == 1
    two.second.broker.security.users.alter([Deletion("ann", SHA_256)], [])
    two.run()
    assert len(two.first.broker.security.users) == 0
    assert len(two.first.events.of("user_credential_altered")) == 1


def test_an_alteration_waits_for_the_right() -> None:
    fake = FakeBroker()
    users = fake.broker.security.users
    fake.changes.withhold()
    with pytest.raises(NotInMemory):
        users.alter([], [upsertion("ann")])
    assert fake.store.staged == []
    fake.changes.give()
    altered = users.alter([], [upsertion("ann")])
    fake.run()
    assert results_of(altered) == [{"ann": None}]
