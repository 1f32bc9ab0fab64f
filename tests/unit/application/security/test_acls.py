"""ACLs are durable before they are acknowledged, and in effect from then on."""

from __future__ import annotations

from typing import Any

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.security.acl_authorizer import MAX_CACHED
from application.security.acls import MAX_DELETED, AclService
from domain.configs.settings.access import STANDARD_AUTHORIZER
from domain.errors import InvalidRequest, StorageFailed
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclFilter, Permission
from domain.security.principal import Principal
from domain.topics.topic import MAX_NAME_LENGTH
from tests.fakes.broker import FakeBroker
from tests.fakes.following_brokers import FollowingBrokers
from tests.fakes.secured import allowed

ALICE = Principal("User", "alice")
READ = Operation.READ, ResourceType.TOPIC, "orders"
MAY_READ = allowed(*READ)


def broker() -> FakeBroker:
    return FakeBroker(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:admin")


def acls_of(fake: FakeBroker) -> AclService:
    acls = fake.broker.security.acls
    assert acls is not None
    return acls


def result(fake: FakeBroker, pending: Pending[Any]) -> Any:
    results: list[Any] = []
    pending.then(results.append)
    fake.run()
    [only] = results
    return only


def may_read(fake: FakeBroker, principal: Principal = ALICE) -> bool:
    return fake.broker.authorizer.allows(principal, "10.0.0.1", *READ)


def test_an_acl_has_an_effect_once_it_is_durable() -> None:
    fake = broker()
    assert not may_read(fake)
    pending = acls_of(fake).create([MAY_READ])
    assert not pending.resolved and not may_read(fake)
    assert result(fake, pending) == [None]
    assert may_read(fake)
    again = fake.restarted()
    assert may_read(again) and not may_read(again, Principal("User", "bob"))
    assert result(again, acls_of(again).delete([AclFilter()])) == [[MAY_READ]]
    assert not may_read(again) and len(acls_of(again.restarted())) == 0


def test_the_authorizer_has_a_new_revision_after_each_change() -> None:
    fake = broker()
    before = fake.broker.authorizer.revision
    result(fake, acls_of(fake).create([MAY_READ]))
    assert fake.broker.authorizer.revision == before + 1


def test_an_invalid_acl_does_not_fail_the_others() -> None:
    fake = broker()
    nameless = MAY_READ._replace(resource_name="")
    refused, created = result(fake, acls_of(fake).create([nameless, MAY_READ]))
    assert isinstance(refused, InvalidRequest) and created is None
    assert acls_of(fake).find(AclFilter()) == [MAY_READ]


def test_after_a_failed_commit_nothing_has_changed() -> None:
    fake = broker()
    fake.commit.fail_next()
    [failure] = result(fake, acls_of(fake).create([MAY_READ]))
    assert isinstance(failure, StorageFailed)
    assert not may_read(fake) and acls_of(fake).find(AclFilter()) == []
    assert result(fake, acls_of(fake).create([MAY_READ])) == [None]
    assert may_read(fake)


def test_a_request_sees_the_changes_in_flight() -> None:
    fake = broker()
    acls = acls_of(fake)
    acls.create([MAY_READ])
    deleted = acls.delete([AclFilter()])
    created = acls.create([MAY_READ])
    assert result(fake, deleted) == [[MAY_READ]]
    assert result(fake, created) == [None]
    assert acls.find(AclFilter()) == [MAY_READ]
    assert len(acls_of(fake.restarted())) == 1


def test_each_filter_names_what_it_deleted() -> None:
    fake = broker()
    denied = MAY_READ._replace(permission=Permission.DENY)
    result(fake, acls_of(fake).create([MAY_READ, denied, MAY_READ]))
    found = result(
        fake,
        acls_of(fake).delete([AclFilter(permission=Permission.DENY), AclFilter(), AclFilter()]),
    )
    assert found == [[denied], [MAY_READ, denied], [MAY_READ, denied]]


def test_a_request_deletes_a_bounded_number() -> None:
    fake = broker()
    acls = [MAY_READ._replace(resource_name=str(one)) for one in range(MAX_DELETED + 1)]
    for created in (acls[:-1], acls[-1:]):  # creating is bounded, too
        result(fake, acls_of(fake).create(created))
    with pytest.raises(InvalidRequest, match="more than 10000 acls"):
        acls_of(fake).delete([AclFilter()])
    assert len(acls_of(fake)) == MAX_DELETED + 1


def test_cached_decisions_are_bounded_and_dropped_at_a_change() -> None:
    fake = broker()
    authorizer: Any = fake.broker.authorizer
    for number in range(MAX_CACHED + 1):
        authorizer.allows(ALICE, "10.0.0.1", Operation.READ, ResourceType.TOPIC, str(number))
    assert len(authorizer._decisions) == 1
    assert not authorizer.allows_any(ALICE, "10.0.0.1", Operation.READ, ResourceType.TOPIC)
    result(fake, acls_of(fake).create([MAY_READ]))
    assert may_read(fake)
    assert authorizer.allows_any(ALICE, "10.0.0.1", Operation.READ, ResourceType.TOPIC)


def test_decisions_about_names_longer_than_those_of_topics_are_not_cached() -> None:
    """Names are not validated before the check: 20,000 of 32 KB each would be 640 MB."""
    fake = broker()
    authorizer: Any = fake.broker.authorizer
    result(fake, acls_of(fake).create([MAY_READ]))
    for length in (MAX_NAME_LENGTH, MAX_NAME_LENGTH + 1, 32_000):
        for _ in range(2):
            assert not authorizer.allows(
                ALICE, "10.0.0.1", Operation.READ, ResourceType.TOPIC, "x" * length
            )
    assert len(authorizer._decisions) == 1


def test_without_the_setting_there_are_no_acls() -> None:
    fake = FakeBroker()
    assert fake.broker.security.acls is None
    assert fake.broker.authorizer.allows_everything


def test_acls_of_another_broker_have_an_effect() -> None:
    two = FollowingBrokers(authorizer_class_name=STANDARD_AUTHORIZER)
    assert not may_read(two.second)
    revision = two.second.broker.authorizer.revision
    acls_of(two.first).create([MAY_READ, allowed(*READ[:2], "invoices")])
    two.run()
    assert may_read(two.second) and two.second.broker.authorizer.revision > revision
    acls_of(two.first).delete([AclFilter(resource_name="orders")])
    two.run()
    assert not may_read(two.second)
    assert [one.resource_name for one in acls_of(two.second).find(AclFilter())] == ["invoices"]


def test_acls_are_created_and_deleted_with_the_right() -> None:
    fake = broker()
    fake.changes.withhold()
    with pytest.raises(NotInMemory):
        acls_of(fake).create([MAY_READ])
    with pytest.raises(NotInMemory):
        acls_of(fake).delete([AclFilter()])
    assert fake.store.staged == []
    fake.changes.give()
    assert result(fake, acls_of(fake).create([MAY_READ])) == [None]
