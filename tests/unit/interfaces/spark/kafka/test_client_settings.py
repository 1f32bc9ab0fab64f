"""Client settings of the Java client, for librdkafka."""

from __future__ import annotations

import pytest

from interfaces.spark.kafka.client_settings import for_librdkafka, may_be_idempotent
from interfaces.spark.query.failures import WrongOption

PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="ann" password="a\\"b;c";'
)


def test_settings_are_renamed_where_librdkafka_has_another_name() -> None:
    same = {"isolation.level": "READ_COMMITTED", "client.rack": "a", "retries": "5"}
    given = {
        "fetch.max.wait.ms": "10",
        "request.timeout.ms": "30",
        "buffer.memory": "33554432",
        "compression.zstd.level": "3",
    }
    assert for_librdkafka(same | given) == same | {
        "fetch.wait.max.ms": "10",
        "socket.timeout.ms": "30",
        "queue.buffering.max.kbytes": "32768",
        "compression.level": "3",
    }


def test_settings_that_only_the_java_client_has_are_ignored() -> None:
    given = {"max.poll.records": "5", "ssl.protocol": "TLSv1.3", "metrics.num.samples": "2"}
    assert for_librdkafka(given) == {}


@pytest.mark.parametrize(
    "name",
    [
        "auto.offset.reset",
        "enable.auto.commit",
        "interceptor.classes",
        "key.deserializer",
        "value.serializer",
        "sasl.login.callback.handler.class",
    ],
)
def test_settings_that_a_query_or_librdkafka_cannot_use_are_refused(name: str) -> None:
    with pytest.raises(WrongOption, match=rf"kafka\.{name}"):
        for_librdkafka({name: "x"})


def test_user_and_password_are_taken_from_jaas() -> None:
    assert for_librdkafka({"sasl.jaas.config": PLAIN}) == {
        "sasl.username": "ann",
        "sasl.password": 'a"b;c',
    }
    scram = PLAIN.replace("plain.PlainLogin", "scram.ScramLogin")
    assert for_librdkafka({"sasl.jaas.config": scram})["sasl.username"] == "ann"


@pytest.mark.parametrize(
    "jaas",
    [
        "nonsense",
        PLAIN.replace("password", "pass"),
        "com.sun.security.auth.module.Krb5LoginModule required;",
    ],
)
def test_other_jaas_is_refused_without_repeating_it(jaas: str) -> None:
    with pytest.raises(WrongOption, match=r"kafka\.sasl\.jaas\.config") as refusal:
        for_librdkafka({"sasl.jaas.config": jaas})
    assert jaas not in str(refusal.value)


def test_pem_files_and_texts_are_translated() -> None:
    assert for_librdkafka(
        {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": "ca.txt",
            "ssl.keystore.location": "me.pem",
            "ssl.key.password": "secret",
            "ssl.endpoint.identification.algorithm": "",
        }
    ) == {
        "ssl.ca.location": "ca.txt",
        "ssl.certificate.location": "me.pem",
        "ssl.key.location": "me.pem",
        "ssl.key.password": "secret",
        "ssl.endpoint.identification.algorithm": "none",
    }
    texts = {"ssl.truststore.certificates": "C", "ssl.keystore.key": "K"}
    texts["ssl.keystore.certificate.chain"] = "CC"
    assert for_librdkafka(texts) == {
        "ssl.ca.pem": "C",
        "ssl.key.pem": "K",
        "ssl.certificate.pem": "CC",
    }


def test_a_pkcs12_keystore_is_passed_on() -> None:
    given = {"ssl.keystore.location": "me.p12", "ssl.keystore.password": "secret"}
    assert for_librdkafka({**given, "ssl.keystore.type": "PKCS12"}) == given


@pytest.mark.parametrize("name", ["ssl.truststore.location", "ssl.keystore.location"])
def test_java_keystores_are_refused(name: str) -> None:
    with pytest.raises(WrongOption, match=rf"kafka\.{name}: .*PEM"):
        for_librdkafka({name: "store.jks"})


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
