"""Against Apache Kafka: TLS and logins, transactions, and what compaction leaves."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from interfaces.main.arguments import parser
from interfaces.spark.jobs.analyze.analysis import run as analyze
from interfaces.spark.kafka import refusals
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.query.failures import JobFailed
from tests.e2e.conftest import unused_topic_name
from tests.e2e.spark.kafka.topics import QUIET, admin, create, fill, options_of, read
from tests.oracle.kafka import KafkaNotFound
from tests.oracle.secured import (
    KEY_PASSWORD,
    PASSWORD,
    PLAIN,
    SCRAM,
    USER,
    Secured,
    secured_kafka,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="needs Spark")

RECORDS = 20


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    try:
        with secured_kafka(tmp_path_factory.mktemp("secured")) as secured:
            yield secured
    except KafkaNotFound as reason:
        pytest.skip(f"needs Apache Kafka: {reason}")


@pytest.fixture
def filled(kafka: Secured) -> str:
    topic = unused_topic_name()
    create(kafka.plain, topic)
    fill(kafka.plain, topic, [b"%d" % number for number in range(RECORDS)])
    return topic


def trusted(authority: Path) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority)}


def tls(kafka: Secured) -> dict[str, str]:
    return {"security.protocol": "SSL", **trusted(kafka.files.authority)}


def login(
    kafka: Secured, module: str = SCRAM, mechanism: str = "SCRAM-SHA-512", password: str = PASSWORD
) -> dict[str, str]:
    return {
        **tls(kafka),
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="{USER}" password="{password}";',
    }


def rows(servers: str, topic: str, settings: dict[str, str]) -> int:
    return len(read(servers, subscribe=topic, **prefixed(settings)))


def prefixed(settings: dict[str, str]) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in settings.items()}


def test_tls_and_sasl_settings_of_the_java_client_connect(kafka: Secured, filled: str) -> None:
    authority, client = kafka.files.authority, kafka.files.client
    elsewhere = f"localhost:{kafka.tls.rpartition(':')[2]}"
    texts = {
        "ssl.keystore.key": client.read_text(),
        "ssl.keystore.certificate.chain": client.with_suffix(".crt").read_text(),
    }
    store = {
        "ssl.keystore.location": str(kafka.files.client_store),
        "ssl.keystore.password": KEY_PASSWORD,
    }
    for servers, settings in (
        (kafka.tls, tls(kafka)),
        (kafka.tls, {"security.protocol": "SSL", "ssl.truststore.location": str(authority)}),
        (
            kafka.tls,
            {
                "security.protocol": "SSL",
                "ssl.truststore.certificates": authority.with_suffix(".crt").read_text(),
            },
        ),
        (elsewhere, {**tls(kafka), "ssl.endpoint.identification.algorithm": ""}),
        (
            kafka.mutual,
            {**tls(kafka), "ssl.keystore.type": "PEM", "ssl.keystore.location": str(client)},
        ),
        (kafka.mutual, {**tls(kafka), **texts}),
        (kafka.mutual, {**tls(kafka), **store}),
        (kafka.login, login(kafka)),
        (kafka.login, login(kafka, PLAIN, "PLAIN")),
    ):
        assert rows(servers, filled, settings) == RECORDS, settings


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "GRACE_S", 0.5)


@pytest.mark.usefixtures("impatient")
def test_a_refused_client_fails_soon_with_the_reason_and_without_the_password(
    kafka: Secured, filled: str
) -> None:
    wrong = "PaSs-that-is-wrong"
    stranger = {"security.protocol": "SSL", **trusted(kafka.files.stranger)}
    elsewhere = f"localhost:{kafka.tls.rpartition(':')[2]}"
    for servers, settings, reason in (
        (kafka.login, login(kafka, password=wrong), "SASL authentication error"),
        (kafka.tls, stranger, "certificate could not be verified"),
        (elsewhere, tls(kafka), "certificate could not be verified"),
        (kafka.mutual, tls(kafka), "bad certificate"),
        (kafka.tls, {}, "security.protocol"),
        (kafka.plain, tls(kafka), "SSL_HANDSHAKE"),
    ):
        with pytest.raises(JobFailed) as refusal:
            rows(servers, filled, settings)
        assert reason in str(refusal.value)
        assert wrong not in str(refusal.value)
        assert "\n" not in str(refusal.value)


@pytest.mark.usefixtures("impatient")
def test_a_sink_that_is_refused_fails_without_the_password(kafka: Secured, filled: str) -> None:
    wrong = f"{PASSWORD}-wrong"
    settings = prefixed(login(kafka, password=wrong))
    dotless = {name.replace(".", "__"): value for name, value in settings.items()}
    sending = Sending(options_of(kafka.login, **dotless))
    with pytest.raises(JobFailed, match="SASL authentication error") as refusal:
        sending.send({filled}, [(filled, b"v", None, 0, sending.delivered)])
    assert wrong not in str(refusal.value)


@pytest.mark.long
def test_queries_streams_and_jobs_log_in_without_showing_the_password(
    spark: SparkSession,
    kafka: Secured,
    filled: str,
    checkpoint: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    copies = [unused_topic_name(), unused_topic_name()]
    for copy in copies:
        create(kafka.plain, copy)
    options = {"kafka.bootstrap.servers": kafka.login, **prefixed(login(kafka))}
    source = {**options, "subscribe": filled, "startingOffsets": "earliest"}

    batch = spark.read.format("ottla").options(**source).load()
    batch.write.format("ottla").mode("append").options(**options, topic=copies[0]).save()
    batch.explain("extended")
    rows_of_stream = spark.readStream.format("ottla").options(**source).load()
    to = rows_of_stream.writeStream.format("ottla").options(**options, topic=copies[1])
    query = to.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    assert query.awaitTermination(60)
    query.explain(extended=True)
    settings = [word for pair in login(kafka).items() for word in ("-X", "=".join(pair))]
    words = ["spark", "analyze", "-b", kafka.login, *settings, filled]
    assert analyze(parser().parse_args(words)) == 0

    assert [rows(kafka.plain, copy, {}) for copy in copies] == [RECORDS, RECORDS]
    printed = "".join(capfd.readouterr())
    assert "BatchScan ottla" in printed and f"{filled}: {RECORDS} records" in printed
    files = [file for file in Path(checkpoint).rglob("*") if file.is_file()]
    texts = [printed, str(query.lastProgress), *(f.read_text("utf-8", "replace") for f in files)]
    assert PASSWORD not in "".join(texts)


def values(rows: list[dict[str, object]]) -> list[object]:
    return [row["value"] for row in rows]


def test_read_committed_hides_open_and_aborted_transactions(kafka: Secured) -> None:
    topic, servers = unused_topic_name(), kafka.plain
    create(servers, topic)
    producer = Producer({"bootstrap.servers": servers, "transactional.id": topic, **QUIET})
    producer.init_transactions(30)

    def send(value: bytes) -> None:
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(30)

    send(b"committed")
    producer.commit_transaction(30)
    send(b"aborted")
    producer.abort_transaction(30)
    committed = {"subscribe": topic, "kafka__isolation__level": "read_committed"}
    assert values(read(servers, **committed)) == [b"committed"]
    assert values(read(servers, subscribe=topic)) == [b"committed", b"aborted"]

    send(b"open")
    assert values(read(servers, **committed)) == [b"committed"]
    producer.abort_transaction(30)
    assert values(read(servers, **committed)) == [b"committed"]


@pytest.mark.long
def test_ranges_with_compacted_ends_are_read(kafka: Secured) -> None:
    topic, servers = unused_topic_name(), kafka.plain
    eager = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "100",
        "max.compaction.lag.ms": "100",
    }
    client = admin(servers)
    client.create_topics([NewTopic(topic, 1, config=eager)])[topic].result(30)
    fill(servers, topic, [{"key": b"%d" % (n % 3), "value": b"%d" % n} for n in range(30)])
    time.sleep(0.2)  # segment.ms: Kafka's own clock
    fill(servers, topic, [{"key": b"last", "value": b"last"}])
    deadline = time.monotonic() + 40
    while len(rows := read(servers, subscribe=topic)) > 4:
        assert time.monotonic() < deadline, "Kafka did not compact"
        time.sleep(0.5)
    assert [row["offset"] for row in rows] == [27, 28, 29, 30]
    end = json.dumps({topic: {"0": 20}})
    assert read(servers, subscribe=topic, endingOffsets=end) == []
    split = read(servers, subscribe=topic, minPartitions="5")
    assert values(split) == [b"27", b"28", b"29", b"last"]
