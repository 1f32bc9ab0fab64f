"""What REST of one of several brokers says of the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.admin import FakeAdmin, facts
from tests.fakes.batches import record_batch
from tests.fakes.shared_store import SharedStore, with_group_lag


@pytest.fixture
def shared() -> SharedStore:
    """Broker 1 leads partitions 0 and 2 of `t`, broker 2 the others; each may lead all."""
    store = SharedStore()
    for node_id in (1, 2):
        store.start(node_id, f"rack-{node_id}", default_replication_factor="2")
    store.topic("t", 4)
    return store


@pytest.fixture
def admin(shared: SharedStore) -> FakeAdmin:
    return FakeAdmin(shared.brokers[1])


def brokers(admin: FakeAdmin) -> dict[int, dict[str, Any]]:
    return {one["broker_id"]: one for one in admin.get("/brokers").json["data"]}


def test_all_brokers_are_listed(shared: SharedStore, admin: FakeAdmin) -> None:
    found = brokers(admin)
    assert list(found) == [1, 2]
    names = ("host", "port", "rack", "is_controller", "is_fenced")
    assert facts(found[1], *names) == ("127.0.0.1", 9092, "rack-1", True, False)
    assert facts(found[2], *names) == ("192.0.2.2", 9092, "rack-2", False, False)
    assert found[1]["software_version"] == "1.2.3"
    assert admin.get("/brokers/2").json == found[2]
    assert admin.get("/brokers/3").json["error_code"] == 40411
    cluster = admin.get(admin.v3).json
    assert cluster["controller"]["related"].endswith("/brokers/1")
    shared.kill(2)
    shared.fence(2)
    assert brokers(admin)[2]["is_fenced"]


def test_each_broker_has_its_state_session_and_lease(shared: SharedStore, admin: FakeAdmin) -> None:
    registered = shared.members.registered

    def shown() -> list[tuple[Any, ...]]:
        names = ("state", "session_id", "lease_ms")
        found = [facts(one, *names) for one in brokers(admin).values()]
        rows = admin.get("/console/data/overview").json["brokers"]
        assert found == [facts(one, *names) for one in rows]
        return found

    first, second = (str(one.session_id) for one in registered.values())
    # It would not survive as a number: that of JavaScript has 53 bits.
    assert str(int(float(second))) != second
    assert shown() == [("ALIVE", first, 6000), ("ALIVE", second, 6000)]
    shared.kill(2)
    shared.fence(2)
    assert shown()[1] == ("FENCED", None, 0)
    registered[2] = registered[2]._replace(session_id=7)
    shared.brokers[1].membership.learn()
    assert shown()[1] == ("STARTING", "7", 6000)
    shared.members.come_back(2)
    assert shown()[1][1] not in (None, "7", second)


def test_a_partition_has_its_leader_and_replicas(admin: FakeAdmin) -> None:
    admin.fake.appended(record_batch(["a"]), "t", 0)
    here, there = admin.get("/topics/t/partitions").json["data"][:2]
    names = ("leader_id", "leader_epoch", "replica_ids", "in_sync_replica_ids", "log_end_offset")
    assert facts(here, *names) == (1, 0, [1, 2], [1, 2], 1)
    assert facts(there, *names) == (2, 0, [2, 1], [2, 1], None)
    assert admin.get("/topics/t/partitions/1").json == there
    assert admin.get(there["leader"]["related"]).json["is_leader"]
    replicas = admin.get(there["replicas"]["related"]).json["data"]
    assert [facts(one, "broker_id", "is_leader", "is_in_sync") for one in replicas] == [
        (2, True, True),
        (1, False, True),
    ]
    of_two = admin.get("/brokers/2/partition-replicas").json["data"]
    assert [one["is_leader"] for one in of_two] == [False, True, False, True]


def test_the_replication_factor_is_the_number_of_replicas(admin: FakeAdmin) -> None:
    assert admin.get("/topics/t").json["replication_factor"] == 2
    [listed] = admin.get("/topics").json["data"]
    assert listed["replication_factor"] == 2

    def created(**body: object) -> int:
        return admin.post("/topics", body).json["replication_factor"]

    assert created(name="default", validate_only=True) == 2
    assert created(name="default") == 2
    assert created(name="one", replication_factor=1, validate_only=True) == 1
    assert created(name="one", replication_factor=1) == 1
    assigned = [{"partition_id": 0, "broker_ids": [2, 1]}]
    assert created(name="a", replicas_assignments=assigned, validate_only=True) == 2
    assert created(name="a", replicas_assignments=assigned) == 2
    cloned = admin.post("/topics/t:clone", {"topic_name": "c"}).json
    assert cloned["replication_factor"] == 2


def test_the_lag_of_what_another_broker_leads_is_null() -> None:
    store, (here, elsewhere) = with_group_lag()
    admin = FakeAdmin(store.brokers[1])
    names = ("current_offset", "log_end_offset", "lag")
    lags = {one["partition_id"]: one for one in admin.get("/groups/partly/lags").json["data"]}
    assert facts(lags[here], *names) == (1, 3, 2)
    assert facts(lags[elsewhere], *names) == (1, None, None)
    known = admin.get("/groups/known/lag-summary").json
    assert facts(known, "max_lag", "total_lag", "max_lag_partition_id") == (2, 2, here)
    assert known["max_lag_partition"]["related"].endswith(f"/topics/t/partitions/{here}")
    assert "warnings" not in known
    unknown = admin.get("/groups/partly/lag-summary").json
    assert unknown.keys() - known.keys() == {"warnings"}
    assert {unknown[name] for name in unknown if name.startswith(("max_", "total_"))} == {None}
    assert unknown["warnings"][0].startswith("Other brokers lead 1 of the 2 partitions")


def test_the_console_shows_no_lag_that_is_too_low() -> None:
    store, (here, elsewhere) = with_group_lag()
    admin = FakeAdmin(store.brokers[1])
    for path in ("groups", "consumers?topic=t"):
        rows = admin.get(f"/console/data/{path}").json["data"]
        assert {one["group_id"]: one["lag"] for one in rows} == {"known": 2, "partly": None}
    topics = {one["name"]: one for one in admin.get("/console/data/topics").json["data"]}
    assert facts(topics["t"], "lag", "has_groups") == (None, True)
    overview = admin.get("/console/data/overview").json
    assert facts(overview, "groups_with_lag", "groups_of_unknown_lag") == (1, 1)
    assert [one["group_id"] for one in overview["lagging"]] == ["known"]
    rows = admin.get("/console/data/groups/partly").json["partitions"]
    found = {one["partition"]: facts(one, "lag", "is_elsewhere") for one in rows}
    assert found == {here: (2, False), elsewhere: (None, True)}


def test_a_broker_without_a_replica_is_named(admin: FakeAdmin) -> None:
    admin.post("/topics", {"name": "one", "replicas_assignments": [
        {"partition_id": 0, "broker_ids": [1]},
    ]})  # fmt: skip
    refused = admin.get("/topics/one/partitions/0/replicas/2").json
    assert facts(refused, "error_code", "message") == (40411, "broker 2 has no replica of one-0")


def test_what_another_broker_has_is_misdirected(admin: FakeAdmin) -> None:
    for path in ("/topics/t/partitions/1/offset", "/topics/t/records?partition=1"):
        refused = admin.get(path)
        assert (refused.status, refused.json["error_code"]) == (421, 42101), path
        assert refused.json["message"] == "Node 2 leads the partition."
    refused = admin.get("/brokers/2/configs")
    assert (refused.status, refused.json["error_code"]) == (421, 42101)
    assert "broker 2" in refused.json["message"]
    assert admin.get("/brokers/3/configs").json["error_code"] == 40411


def test_records_are_not_cloned_where_several_brokers_lead(admin: FakeAdmin) -> None:
    admin.fake.topic("u", 3)
    refused = admin.post("/topics/u:clone", {"topic_name": "c", "records": True})
    assert (refused.status, refused.json["error_code"]) == (400, 40002)
    assert "`ottla topic clone`" in refused.json["message"]
    assert admin.get("/topics/c").status == 404, "nothing was created"
    unknown = admin.post("/topics/x:clone", {"topic_name": "c", "records": True})
    assert unknown.json["error_code"] == 40403


def test_a_reassignment_under_way_is_shown(shared: SharedStore, admin: FakeAdmin) -> None:
    assert admin.get("/topics/t/partitions/0/reassignment").status == 404
    shared.start(3)
    shared.kill(3)
    shared.fence(3)
    shared.brokers[1].broker.topics.replicas.reassign([(("t", 0), [3])])
    shared.run()
    [found] = admin.get("/topics/-/partitions/-/reassignment").json["data"]
    names = ("topic_name", "partition_id", "adding_replicas", "removing_replicas")
    assert facts(found, *names) == ("t", 0, [3], [1, 2])
    assert admin.get("/topics/t/partitions/0/reassignment").json == found
    assert admin.get("/topics/t/partitions/-/reassignment").json["data"] == [found]


def test_the_console_has_nodes_leaders_and_epochs(shared: SharedStore, admin: FakeAdmin) -> None:
    found = admin.get("/console/data/overview").json["brokers"]
    names = ("node_id", "addresses", "rack", "state", "is_controller", "partitions_led")
    assert [facts(one, *names) for one in found] == [
        (1, ["192.0.2.1:9092"], "rack-1", "ALIVE", True, 2),
        (2, ["192.0.2.2:9092"], "rack-2", "ALIVE", False, 2),
    ]
    shared.kill(2)
    shared.fence(2)
    rows = admin.get("/console/data/partitions?topic=t").json["data"]
    names = ("leader", "leader_epoch", "replicas", "offline")
    assert facts(rows[0], *names) == (1, 0, [1, 2], [2])
    assert facts(rows[1], *names) == (1, 1, [2, 1], [2])


def test_a_broker_that_is_alone_shows_no_others() -> None:
    admin = FakeAdmin()
    admin.fake.topic("t")
    assert admin.get("/console/data/overview").json["brokers"] == []
    [row] = admin.get("/console/data/partitions?topic=t").json["data"]
    assert "leader" not in row
