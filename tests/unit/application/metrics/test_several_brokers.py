from __future__ import annotations

from application.metrics.broker import BrokerReadings
from application.metrics.families.durations import Durations
from application.metrics.groups import GroupReadings
from application.metrics.history import History
from application.metrics.topics import TopicReadings
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.shared_store import SharedBroker, SharedStore, with_group_lag
from tests.unit.application.metrics.figures import Figures, by_labels

KAFKA = "kafka_controller_kafkacontroller"
REPLICA_MANAGER = "kafka_server_replicamanager"


def figures(fake: SharedBroker) -> Figures:
    broker, clock = fake.broker, fake.clock
    whole = BrokerReadings(broker, clock, "1.2.3", 0, lambda: ["127.0.0.1:9092"])
    topics = TopicReadings(broker.catalog, clock, broker.placement)
    return by_labels(whole.read()) | by_labels(topics.read())


def three() -> SharedStore:
    """A topic with 6 partitions of 2 replicas: each broker leads two."""
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id, default_replication_factor="2", auto_leader_rebalance_enable="false")
    shared.topic("t", 6)
    return shared


def test_each_broker_counts_what_it_leads() -> None:
    shared = three()
    for node_id, broker in shared.brokers.items():
        found = figures(broker)
        assert found[f"{REPLICA_MANAGER}_leadercount",] == 2
        assert found[f"{REPLICA_MANAGER}_partitioncount",] == 4
        assert found["redpanda_cluster_partitions",] == 6
        assert found["kafka_brokers",] == found[f"{KAFKA}_activebrokercount",] == 3
        assert found[f"{KAFKA}_activecontrollercount",] == (node_id == 1)
        led = [key for key in found if key[0] == "kafka_topic_partition_leader"]
        assert [found[key] for key in led] == [node_id] * 2
        assert found["ottla_lease_seconds",] == 6


def test_a_store_that_waits_or_fails_is_not_ready() -> None:
    broker = three().brokers[1]
    health = broker.broker.commits.storage_health
    found = []
    for reason in (None, "cannot be reached", None):
        health.waits(reason)
        found.append(figures(broker)["ottla_store_ready",])
    assert found == [1, 0, 1]


def test_a_store_is_not_ready_for_a_broker_without_a_lease() -> None:
    shared = three()
    shared.fence(1)
    found = [figures(broker)["ottla_store_ready",] for broker in shared.brokers.values()]
    assert found == [0, 1, 1]


def epochs(fake: SharedBroker) -> list[object]:
    found = figures(fake)
    return [found[key] for key in found if key[0] == "ottla_partition_leader_epoch"]


def test_each_broker_has_the_leader_epochs_of_what_it_leads() -> None:
    shared = three()
    assert [epochs(broker) for broker in shared.brokers.values()] == [[0, 0]] * 3
    shared.kill(3)
    shared.fence(3)
    found = [sorted(map(str, epochs(broker))) for broker in shared.brokers.values()]
    assert sorted(found) == [["0", "0", "1"], ["0", "0", "1"]]


def sessions(fake: SharedBroker) -> list[tuple[str, ...]]:
    return [key[1:] for key in figures(fake) if key[0] == "ottla_broker_session_info"]


def test_each_broker_has_the_states_and_sessions_of_all() -> None:
    shared = three()
    registered = shared.members.registered
    ids = {str(node_id): str(one.session_id) for node_id, one in registered.items()}
    assert len(set(ids.values())) == 3
    alive = [(node_id, "ALIVE", session_id) for node_id, session_id in ids.items()]
    assert [sessions(broker) for broker in shared.brokers.values()] == [alive] * 3
    shared.kill(3)
    shared.fence(3)
    fenced = [*alive[:2], ("3", "FENCED", "")]
    assert [sessions(broker) for broker in shared.brokers.values()] == [fenced] * 2
    shared.members.come_back(3)
    found = sessions(shared.brokers[1])
    assert found[:2] == alive[:2]
    assert found[2][2] not in ("", ids["3"])


def test_a_broker_that_is_cut_off_is_fenced_and_not_the_controller() -> None:
    shared = three()
    shared.members.late.add(1)
    shared.members.fence(1)
    found = figures(shared.brokers[1])
    assert found[f"{KAFKA}_fencedbrokercount",] == 1
    for name in ("activecontrollercount", "offlinepartitionscount"):
        assert found[f"{KAFKA}_{name}",] == 0
    assert found[f"{KAFKA}_preferredreplicaimbalancecount",] == 0
    assert sessions(shared.brokers[1])[0] == ("1", "FENCED", "")


def test_a_broker_that_has_the_store_alone_has_no_session() -> None:
    fake = FakeBroker()
    whole = BrokerReadings(fake.broker, fake.clock, "1.2.3", 0, list)
    found = {family.name: list(samples) for family, samples in whole.read()}
    assert found["ottla_broker_session_info"] == found["ottla_lease_seconds"] == []


def test_a_lag_that_is_not_known_here_is_not_exported() -> None:
    shared, (here, elsewhere) = with_group_lag()
    broker = shared.brokers[1].broker
    groups = broker.groups
    found = by_labels(GroupReadings(groups.registry, groups.offsets, broker.catalog).read())
    for name in ("kafka_consumergroup_lag_sum", "kminion_kafka_consumer_group_topic_lag"):
        assert {key[1:]: found[key] for key in found if key[0] == name} == {("known", "t"): 2}
    lags = {key[1:]: found[key] for key in found if key[0] == "kafka_consumergroup_lag"}
    assert lags == {(group_id, "t", str(here)): 2 for group_id in ("known", "partly")}
    assert found["kafka_consumergroup_current_offset", "partly", "t", str(elsewhere)] == 1
    assert found["kafka_consumergroup_current_offset_sum", "partly", "t"] == 2


def test_all_brokers_have_an_address() -> None:
    found = figures(three().brokers[1])
    assert [key[1:] for key in found if key[0] == "kafka_broker_info"] == [
        ("1", "127.0.0.1:9092"),
        ("2", "192.0.2.2:9092"),
        ("3", "192.0.2.3:9092"),
    ]


def test_the_controller_counts_what_a_fenced_broker_leaves() -> None:
    shared = three()
    shared.kill(3)
    shared.fence(3)
    first, second = (figures(shared.brokers[node_id]) for node_id in (1, 2))
    for found in (first, second):
        assert found["kafka_brokers",] == 2
        assert found[f"{KAFKA}_fencedbrokercount",] == 1
        assert found[f"{KAFKA}_offlinepartitionscount",] == 0
    assert first[f"{KAFKA}_preferredreplicaimbalancecount",] == 2
    assert second[f"{KAFKA}_preferredreplicaimbalancecount",] == 0
    names = (f"{REPLICA_MANAGER}_leadercount", f"{REPLICA_MANAGER}_underreplicatedpartitions")
    assert [first[name,] + second[name,] for name in names] == [6, 4]  # type: ignore[operator]
    of_partitions = first | second
    for name, expected in (
        ("replicas", 12), ("in_sync_replica", 8), ("leader_is_preferred", 4),
        ("under_replicated_partition", 4),
    ):  # fmt: skip
        family = f"kafka_topic_partition_{name}"
        values = [value for key, value in of_partitions.items() if key[0] == family]
        assert sum(values) == expected, name  # type: ignore[arg-type]


COUNTERS = ("messagesin", "bytesin", "bytesout", "totalproducerequests", "totalfetchrequests")


def counters(readings: TopicReadings) -> dict[str, float]:
    found = by_labels(readings.read())
    names = {name: f"kafka_server_brokertopicmetrics_{name}_total" for name in COUNTERS}
    return {name: found[key, "t"] for name, key in names.items()}  # type: ignore[misc]


def move(shared: SharedStore, to: int) -> None:
    """All partitions."""
    broker = shared.brokers[1]
    registrations = broker.core.registrations
    assert registrations is not None
    broker.changes.check()
    registrations.save([(each, one._replace(target=(to,))) for each, one in registrations.items()])
    shared.run()


def test_counters_do_not_go_down_when_leaders_move_away() -> None:
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(node_id, default_replication_factor="2", auto_leader_rebalance_enable="false")
    shared.topic("t", 2)
    readings = {
        node_id: TopicReadings(fake.broker.catalog, fake.clock, fake.broker.placement)
        for node_id, fake in shared.brokers.items()
    }
    for node_id, fake in shared.brokers.items():
        [index] = shared.led("t", node_id)
        fake.appended(record_batch(["r"] * 10 * node_id), "t", index)
    first, second = (counters(readings[node_id]) for node_id in (1, 2))
    assert (first["messagesin"], second["messagesin"]) == (10, 20)
    assert first["bytesin"] > 0

    moved = shared.led("t", 1)[0]
    move(shared, 2)
    assert counters(readings[1]) == first
    assert counters(readings[2]) == second, "what came before has been counted by broker 1"
    shared.brokers[2].appended(record_batch(["r"] * 5), "t", moved)
    assert counters(readings[2])["messagesin"] == 25

    move(shared, 1)
    assert len(shared.led("t", 1)) == 2
    assert counters(readings[1]) == first
    shared.brokers[1].appended(record_batch(["r"]), "t", moved)
    assert counters(readings[1])["messagesin"] == 11
    assert counters(readings[2])["messagesin"] == 25
    delete = shared.brokers[1].broker.topics.delete_topics
    [topic] = list(shared.brokers[1].broker.catalog)
    delete.delete([topic])
    shared.run()
    assert [fake.broker.catalog.left_traffic("t") for fake in shared.brokers.values()] == [None] * 2


def test_the_history_counts_what_has_left() -> None:
    shared = three()
    fake = shared.brokers[1]
    fake.appended(record_batch(["r"] * 10), "t", shared.led("t", 1)[0])
    history = History(
        fake.broker.catalog, fake.broker.groups.offsets, fake.broker.background, fake.clock,
        list, Durations(), lambda: (0, 0, 0),
    )  # fmt: skip
    sampled = [0.0]
    for hand_over in (True, False):
        fake.clock.advance(10_000)
        fake.broker.background.run(history.sample())
        shared.run()
        sampled.append([*history.topic("t")][-1][1])
        if hand_over:
            fake.broker.hand_over_all()
            shared.run()
    assert sampled[1] > 0
    assert sampled[2] == 0
