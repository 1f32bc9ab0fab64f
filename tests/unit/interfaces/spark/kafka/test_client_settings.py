"""Client settings of the Java client, for librdkafka."""

from __future__ import annotations

import pytest

from interfaces.spark.kafka.client_settings import for_librdkafka, may_be_idempotent
from interfaces.spark.query.failures import WrongOption

PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="ann" password="a\\"b;c";'
)


@pytest.mark.parametrize(
    ("java", "librdkafka"),
    [
        ({"isolation.level": "READ_COMMITTED", "client.rack": "a", "retries": "5"}, None),
        ({"fetch.max.wait.ms": "10"}, {"fetch.wait.max.ms": "10"}),
        ({"request.timeout.ms": "30"}, {"socket.timeout.ms": "30"}),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": "32768"}),
        ({"buffer.memory": "500"}, {"queue.buffering.max.kbytes": "1"}),
        (
            {
                "compression.type": "gzip",
                "compression.gzip.level": "9",
                "compression.lz4.level": "1",
            },
            {"compression.type": "gzip", "compression.level": "9"},
        ),
        (
            {
                "compression.type": " LZ4",
                "compression.lz4.level": "4",
                "compression.zstd.level": "19",
            },
            {"compression.type": " LZ4", "compression.level": "4"},
        ),
        ({"compression.type": "lz4", "compression.gzip.level": "1"}, {"compression.type": "lz4"}),
        ({"compression.zstd.level": "19"}, {}),
        ({"compression.type": "zstd", "compression.level": "3"}, None),
        ({"max.poll.records": "5", "ssl.protocol": "TLSv1.3", "metrics.num.samples": "2"}, {}),
        ({"sasl.jaas.config": PLAIN}, {"sasl.username": "ann", "sasl.password": 'a"b;c'}),
        (
            {"sasl.jaas.config": "PlainLoginModule required username=ann password=a-b;"},
            {"sasl.username": "ann", "sasl.password": "a-b"},
        ),
        (
            {"sasl.jaas.config": 'PlainLoginModule required password=a@b username=""'},
            {"sasl.username": "", "sasl.password": "a@b"},
        ),
        (
            {"sasl.jaas.config": PLAIN.replace("plain.PlainLogin", "scram.ScramLogin")},
            {"sasl.username": "ann", "sasl.password": 'a"b;c'},
        ),
        (
            {"ssl.truststore.type": "PEM", "ssl.truststore.location": "ca.txt"},
            {"ssl.ca.location": "ca.txt"},
        ),
        (
            {"ssl.keystore.location": "me.pem", "ssl.key.password": "secret"},
            {
                "ssl.certificate.location": "me.pem",
                "ssl.key.location": "me.pem",
                "ssl.key.password": "secret",
            },
        ),
        (
            {"ssl.endpoint.identification.algorithm": ""},
            {"ssl.endpoint.identification.algorithm": "none"},
        ),
        ({"ssl.truststore.certificates": "C"}, {"ssl.ca.pem": "C"}),
        ({"ssl.keystore.key": "K"}, {"ssl.key.pem": "K"}),
        ({"ssl.keystore.certificate.chain": "CC"}, {"ssl.certificate.pem": "CC"}),
        ({"ssl.keystore.location": "me.p12", "ssl.keystore.password": "secret"}, None),
        (
            {"ssl.keystore.location": "me.p12", "ssl.keystore.type": "PKCS12"},
            {"ssl.keystore.location": "me.p12"},
        ),
    ],
)
def test_settings_of_the_java_client_are_translated_or_ignored(
    java: dict[str, str], librdkafka: dict[str, str] | None
) -> None:
    """None: unchanged."""
    assert for_librdkafka(java) == (java if librdkafka is None else librdkafka)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("auto.offset.reset", "x"),
        ("enable.auto.commit", "x"),
        ("interceptor.classes", "x"),
        ("key.deserializer", "x"),
        ("value.serializer", "x"),
        ("sasl.login.callback.handler.class", "x"),
        ("sasl.jaas.config", "nonsense"),
        ("sasl.jaas.config", PLAIN.replace("password", "pass")),
        ("sasl.jaas.config", "PlainLoginModule required username=ann password='a b';"),
        ("sasl.jaas.config", "PlainLoginModule required username=ann password=a'b;"),
        ("sasl.jaas.config", "com.sun.security.auth.module.Krb5LoginModule required;"),
        ("ssl.truststore.location", "store.jks"),
        ("ssl.keystore.location", "store.jks"),
    ],
)
def test_settings_that_librdkafka_cannot_use_are_refused(name: str, value: str) -> None:
    with pytest.raises(WrongOption, match=rf"kafka\.{name}") as refusal:
        for_librdkafka({name: value})
    assert value not in str(refusal.value) or value in ("x", "store.jks")  # no password


@pytest.mark.parametrize(
    ("settings", "may"),
    [
        ({}, True),
        ({"acks": "all", "retries": "1", "max.in.flight.requests.per.connection": "5"}, True),
        ({"acks": "1"}, False),
        ({"acks": 0}, False),
        ({"retries": "0"}, False),
        ({"max.in.flight.requests.per.connection": "6"}, False),
    ],
)
def test_some_settings_turn_idempotence_off(settings: dict[str, object], may: bool) -> None:
    assert may_be_idempotent(settings) is may
