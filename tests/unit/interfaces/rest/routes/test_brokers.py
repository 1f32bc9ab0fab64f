from __future__ import annotations

from interfaces.rest.admin import KafkaListener
from tests.fakes.admin import FakeAdmin


def test_the_one_cluster_links_to_all_resources(admin: FakeAdmin) -> None:
    [cluster] = admin.get("/v3/clusters").json["data"]
    assert cluster["kind"] == "KafkaCluster"
    assert cluster["cluster_id"] == admin.fake.broker.cluster_id
    assert admin.get(admin.v3).json == cluster
    links = {name: one["related"] for name, one in cluster.items() if "related" in one}
    # Confluent's clients expect each of them.
    assert links.keys() == {
        "controller", "brokers", "broker_configs", "consumer_groups", "topics", "acls",
        "partition_reassignments",
    }  # fmt: skip
    for name in links.keys() - {"acls"}:
        assert admin.get(links[name]).status == 200, name


def test_there_is_one_broker(admin: FakeAdmin) -> None:
    [broker] = admin.get("/brokers").json["data"]
    assert admin.get("/brokers/1").json == broker
    assert admin.get(f"{admin.v3}/brokers/1").json == broker
    assert (broker["broker_id"], broker["host"], broker["port"]) == (1, "127.0.0.1", 9092)
    assert (broker["state"], broker["session_id"], broker["lease_ms"]) == ("ALIVE", None, None)
    for name in ("configs", "partition_replicas"):
        assert admin.get(broker[name]["related"]).status == 200, name


def test_the_address_of_a_broker_is_the_one_that_clients_are_directed_to(admin: FakeAdmin) -> None:
    admin.listeners[0] = KafkaListener("PLAINTEXT", "::", 9092, None)
    broker = admin.get("/brokers/1").json
    assert (broker["host"], broker["port"]) == ("localhost", 9092), "of this connection"
    admin.fake.config.configure({"advertised.listeners": "broker.example:9093"}, {})
    broker = admin.get("/brokers/1").json
    assert (broker["host"], broker["port"]) == ("broker.example", 9093)


def test_a_broker_without_listeners_has_no_address(admin: FakeAdmin) -> None:
    admin.listeners.clear()
    broker = admin.get("/brokers/1").json
    assert (broker["host"], broker["port"]) == (None, None)


def test_the_broker_has_a_replica_of_every_partition(admin: FakeAdmin) -> None:
    admin.fake.topic("b", 2)
    admin.fake.topic("a", 1)
    found = admin.get("/brokers/1/partition-replicas").json["data"]
    places = [(one["topic_name"], one["partition_id"]) for one in found]
    assert places == [("a", 0), ("b", 0), ("b", 1)]
