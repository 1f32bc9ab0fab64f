"""Metrics, recent requests and a group of a broker that real clients have used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from prometheus_client.parser import text_string_to_metric_families

from application.metrics.all_families import FAMILIES
from application.metrics.families.family import Kind
from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess

#: Metrics that dashboards, scripts and UIs of users query, by the exporter they know them from.
KNOWN = {
    "kafka_exporter": """
        kafka_brokers kafka_broker_info kafka_topic_partitions kafka_topic_partition_current_offset
        kafka_topic_partition_oldest_offset kafka_topic_partition_leader
        kafka_topic_partition_replicas kafka_topic_partition_in_sync_replica
        kafka_topic_partition_leader_is_preferred kafka_topic_partition_under_replicated_partition
        kafka_consumergroup_current_offset kafka_consumergroup_lag
        kafka_consumergroup_current_offset_sum kafka_consumergroup_lag_sum
        kafka_consumergroup_members""",
    "JMX exporter": """
        kafka_server_brokertopicmetrics_messagesin_total
        kafka_server_brokertopicmetrics_bytesin_total kafka_server_brokertopicmetrics_bytesout_total
        kafka_server_brokertopicmetrics_totalproducerequests_total
        kafka_server_brokertopicmetrics_totalfetchrequests_total
        kafka_server_brokertopicmetrics_failedproducerequests_total
        kafka_server_brokertopicmetrics_failedfetchrequests_total
        kafka_network_requestmetrics_totaltimems kafka_network_requestmetrics_requests_total
        kafka_server_replicamanager_partitioncount kafka_server_replicamanager_leadercount
        kafka_server_replicamanager_underreplicatedpartitions
        kafka_controller_kafkacontroller_activecontrollercount
        kafka_controller_kafkacontroller_activebrokercount
        kafka_controller_kafkacontroller_fencedbrokercount
        kafka_controller_kafkacontroller_preferredreplicaimbalancecount
        kafka_controller_kafkacontroller_offlinepartitionscount kafka_log_log_size""",
    "Redpanda": """
        redpanda_cluster_brokers redpanda_cluster_partitions
        redpanda_cluster_unavailable_partitions""",
    "kminion": """
        kminion_kafka_consumer_group_topic_lag kminion_kafka_consumer_group_members
        kminion_kafka_topic_log_dir_size_total_bytes""",
    "prometheus_client": """
        process_cpu_seconds_total process_resident_memory_bytes process_virtual_memory_bytes
        process_open_fds process_max_fds process_start_time_seconds
        python_gc_objects_collected_total python_gc_objects_uncollectable_total
        python_gc_collections_total python_info""",
}

Samples = Mapping[str, list[tuple[dict[str, str], float]]]


def scraped(admin: AdminClient) -> Samples:
    response = admin.get("/metrics")
    assert response.status == 200
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(response.body.decode()):
        assert family.documentation, family.name
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(samples: Samples, name: str, **labels: str) -> float:
    [found] = [value for of, value in samples[name] if labels.items() <= of.items()]
    return found


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdminClient]:
    """Ten records in partition 0 of `orders`, of which the group `bar` has committed four."""
    folder = tmp_path_factory.mktemp("used-broker")
    with BrokerProcess(folder, "lmdb", ["--admin", "127.0.0.1:0"]) as broker:
        with broker.connect() as client:
            assert client.create_topic("orders", 2, {}) == 0
        servers = {"bootstrap.servers": broker.bootstrap}
        producer = Producer({**servers, "client.id": "a-producer"})
        for number in range(10):
            producer.produce("orders", value=b"x" * 100, partition=0, key=str(number))
        assert producer.flush(20) == 0
        consumer = Consumer(
            {
                **servers,
                "client.id": "a-consumer",
                "group.id": "bar",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        consumer.subscribe(["orders"])
        for _ in range(4):
            message = consumer.poll(30)
            assert message is not None and not message.error()
            consumer.commit(message, asynchronous=False)
        yield AdminClient(broker)
        consumer.close()
        assert broker.terminate() == 0, broker.log()


@pytest.fixture(scope="module")
def samples(used: AdminClient) -> Samples:
    scraped(used)  # rates need two scrapes
    return scraped(used)


def test_the_metrics_of_other_exporters_are_there(samples: Samples) -> None:
    missing = {
        exporter: absent
        for exporter, names in KNOWN.items()
        if (absent := [name for name in names.split() if name not in samples])
    }
    assert missing == {}
    # kafbat reads gauges named *BrokerTopicMetrics*FifteenMinuteRate.
    rates = [
        labels
        for name, found in samples.items()
        if "BrokerTopicMetrics" in name and name.endswith("FifteenMinuteRate")
        for labels, _ in found
    ]
    for rate in ("BytesInPerSec", "BytesOutPerSec"):
        assert {"name": rate} in rates
        assert {"name": rate, "topic": "orders"} in rates


def test_a_scrape_has_each_family_of_the_tables_once_with_its_samples(used: AdminClient) -> None:
    histograms = {one.name for one in FAMILIES if one.kind is Kind.HISTOGRAM}
    families = []
    names: set[str] = set()
    for line in used.get("/metrics").body.decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split()
            families.append((family, kind))
            parts = ("_bucket", "_sum", "_count") if family in histograms else ("",)
            names = {family + part for part in parts}
        elif not line.startswith("#"):
            assert line.split("{")[0].split()[0] in names, line
    assert sorted(families) == sorted((one.name, one.kind.value) for one in FAMILIES)


def test_the_values_match_the_requests_of_clients(samples: Samples) -> None:
    first = {"topic": "orders", "partition": "0"}
    assert value(samples, "kafka_topic_partitions", topic="orders") == 2
    assert value(samples, "kafka_topic_partition_current_offset", **first) == 10
    assert value(samples, "kafka_topic_partition_oldest_offset", **first) == 0
    assert value(samples, "kafka_consumergroup_current_offset", consumergroup="bar", **first) == 4
    assert value(samples, "kafka_consumergroup_lag", consumergroup="bar", **first) == 6
    assert value(samples, "kafka_consumergroup_lag_sum", consumergroup="bar") == 6
    assert value(samples, "kafka_consumergroup_members", consumergroup="bar") == 1
    of_topic = "kafka_server_brokertopicmetrics"
    assert value(samples, f"{of_topic}_messagesin_total", topic="orders") == 10
    assert value(samples, f"{of_topic}_bytesin_total", topic="orders") > 1000
    assert value(samples, f"{of_topic}_bytesout_total", topic="orders") > 1000
    assert value(samples, "kafka_log_log_size", **first) > 1000
    assert 1 <= value(samples, f"{of_topic}_totalproducerequests_total", topic="orders") <= 10
    assert value(samples, "kafka_broker_info", id="1") == 1
    assert value(samples, "ottla_groups", kind="classic", state="Stable") == 1


def test_requests_are_counted_with_their_times(samples: Samples) -> None:
    api = "OffsetCommit"
    assert value(samples, "ottla_request_duration_seconds_count", api=api) == 4
    assert value(samples, "kafka_network_requestmetrics_requests_total", request=api) == 4
    stages = [
        value(samples, "ottla_request_stage_seconds_sum", api=api, stage=stage)
        for stage in ("queue", "decode", "handle", "wait", "send")
    ]
    total = value(samples, "ottla_request_duration_seconds_sum", api=api)
    assert sum(stages) == pytest.approx(total)
    assert value(samples, "ottla_request_bytes_total", api="Produce") > 1000
    assert value(samples, "ottla_commit_duration_seconds_count") > 0
    assert value(samples, "ottla_store_used_bytes") > 4096


def test_recent_requests_are_found_by_client_api_and_correlation_id(used: AdminClient) -> None:
    newest = used.get("/requestz?client_id=a-producer&api=produce&limit=3").json["data"]
    assert newest and all(one["api"] == "Produce" for one in newest)
    one = newest[0]
    stages = sum(one[f"{stage}_us"] for stage in ("queue", "decode", "handle", "wait", "send"))
    assert 0 <= one["total_us"] - stages <= 5  # each is rounded down
    assert one["errors"] == [] and one["ago_ms"] >= 0
    query = f"/requestz?client_id=a-producer&correlation_id={one['correlation_id']}"
    assert used.get(query).json["data"][0]["correlation_id"] == one["correlation_id"]
    assert used.get("/requestz?api=nothing").json["data"] == []
    assert used.get("/requestz?correlation_id=console-1a2b").json["data"] == []
    assert used.get("/requestz?correlation_id=99999999999999").json["data"] == []
    assert used.get("/requestz?slow_ms=-1").status == 422


def test_the_first_scrape_after_a_restart_has_all_offsets(tmp_path: Path) -> None:
    """No client has used any partition yet: they are loaded for the scrape."""
    with BrokerProcess(tmp_path, "lmdb", ["--admin", "127.0.0.1:0"]) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce("t", value=b"x")
        assert producer.flush(20) == 0
        del producer  # it would reconnect
        assert broker.terminate() == 0
        broker.start()
        samples = scraped(AdminClient(broker))
    assert value(samples, "kafka_topic_partition_current_offset", topic="t") == 1
    assert value(samples, "kafka_server_brokertopicmetrics_messagesin_total", topic="t") == 1
    assert samples["ottla_connections"] == [({"listener": "PLAINTEXT"}, 0)]
