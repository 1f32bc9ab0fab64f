"""Routes that change what all brokers share wait for the right, before they have any effect."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.admin import FakeAdmin
from tests.fakes.secured import SecuredKafka
from tests.fakes.transactional_producer import TransactionalProducer

_ACL = {
    "resource_type": "TOPIC",
    "resource_name": "t",
    "pattern_type": "LITERAL",
    "principal": "User:ann",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
_CONFIG = {"data": [{"name": "retention.ms", "value": "5"}]}
#: With the status.
CHANGES: list[tuple[str, str, Any, int]] = [
    ("POST", "/topics", {"topic_name": "u"}, 201),
    ("PATCH", "/topics/t", {"configs": {"retention.ms": 5}}, 200),
    ("DELETE", "/topics/t", None, 204),
    ("POST", "/topics/t:clone", {"name": "u"}, 201),
    ("POST", "/topics/t/configs:alter", _CONFIG, 204),
    ("PUT", "/topics/t/configs/retention.ms", {"value": "5"}, 204),
    ("PUT", "/broker-configs/message.max.bytes", {"value": "50"}, 204),
    ("PUT", "/brokers/1/configs/message.max.bytes", {"value": "50"}, 204),
    ("POST", "/acls", _ACL, 201),
    ("DELETE", "/acls?resource_name=old", None, 200),
    (
        "POST",
        "/quotas:alter",
        {"data": [{"entity": {"user": "ann"}, "quotas": {"producer_byte_rate": 1000}}]},
        204,
    ),
    ("PUT", "/users/ann", {"password": "a-password"}, 200),
    ("DELETE", "/users/old", None, 204),
    ("POST", "/test/reset", None, 200),
]


@pytest.fixture
def admin() -> FakeAdmin:
    admin = FakeAdmin(SecuredKafka(super_users="User:ANONYMOUS"))
    admin.fake.topic("t")
    assert admin.post("/acls", _ACL | {"resource_name": "old"}).status == 201
    assert admin.request("PUT", "/users/old", {"password": "a-password"}).status == 200
    return admin


def rows(admin: FakeAdmin) -> dict[str, dict[bytes, bytes]]:
    return {table: dict(found) for table, found in admin.fake.store.tables.items()}


@pytest.mark.parametrize(("method", "path", "body", "status"), CHANGES)
def test_a_change_waits(admin: FakeAdmin, method: str, path: str, body: Any, status: int) -> None:
    fake, before = admin.fake, rows(admin)
    waited = []

    def give() -> None:
        waited.append((fake.changes.waiting, fake.store.staged[:], rows(admin) == before))
        fake.changes.give(callers=1)

    fake.changes.withhold(give)
    response = admin.request(method, path, body)
    assert (response.status, waited) == (status, [(1, [], True)])
    fake.run()
    assert rows(admin) != before


def test_partitions_are_added_and_configs_altered_each_with_the_right(admin: FakeAdmin) -> None:
    fake = admin.fake
    fake.changes.withhold(lambda: fake.changes.give(callers=1))
    changes = {"partitions_count": 3, "configs": {"retention.ms": 5}}
    assert admin.request("PATCH", "/topics/t", changes).json["partitions_count"] == 3


def test_a_validation_does_not_wait(admin: FakeAdmin) -> None:
    admin.fake.changes.withhold()
    assert admin.post("/topics", {"topic_name": "u", "validate_only": True}).status == 200
    alter = admin.post("/topics/t/configs:alter", _CONFIG | {"validate_only": True})
    assert (alter.status, admin.fake.changes.waiting) == (204, 0)


def test_an_abort_of_a_transaction_does_not_wait(admin: FakeAdmin) -> None:
    producer = TransactionalProducer(admin.fake)
    producer.init()
    admin.fake.changes.withhold()
    assert admin.post("/transactions/tx:abort").status == 200
