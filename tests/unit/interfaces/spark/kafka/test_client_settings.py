"""Settings as Java's client has them, for librdkafka."""

from __future__ import annotations

import pytest

from interfaces.spark.failures import WrongOption
from interfaces.spark.kafka.client_settings import for_librdkafka

PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="ann" password="a\\"b;c";'
)


def test_what_both_have_stays_as_it_is() -> None:
    given = {"isolation.level": "read_committed", "security.protocol": "SSL"}
    assert for_librdkafka(given) == given


def test_other_names_are_translated() -> None:
    given = {
        "fetch.max.wait.ms": "10",
        "max.partition.fetch.bytes": "20",
        "request.timeout.ms": "30",
        "receive.buffer.bytes": "-1",
        "buffer.memory": "33554432",
    }
    assert for_librdkafka(given) == {
        "fetch.wait.max.ms": "10",
        "fetch.message.max.bytes": "20",
        "socket.timeout.ms": "30",
        "socket.receive.buffer.bytes": "0",
        "queue.buffering.max.kbytes": "32768",
    }


def test_what_only_java_has_is_left_out() -> None:
    assert for_librdkafka({"max.poll.records": "5", "ssl.protocol": "TLSv1.3"}) == {}


@pytest.mark.parametrize(
    "name",
    [
        "auto.offset.reset",
        "enable.auto.commit",
        "interceptor.classes",
        "key.deserializer",
        "value.deserializer",
    ],
)
def test_what_the_connector_refuses_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(WrongOption, match=rf"^kafka\.{name} cannot be set: \w"):
        for_librdkafka({name: "x"})


def test_user_and_password_are_taken_from_jaas() -> None:
    assert for_librdkafka({"sasl.jaas.config": PLAIN}) == {
        "sasl.username": "ann",
        "sasl.password": 'a"b;c',
    }
    scram = PLAIN.replace("plain.PlainLogin", "scram.ScramLogin")
    assert for_librdkafka({"sasl.jaas.config": scram})["sasl.username"] == "ann"


@pytest.mark.parametrize(
    ("jaas", "says"),
    [
        ("nonsense", "is not understood; `org"),
        (PLAIN.replace("password", "pass"), "has no password"),
        (
            "com.sun.security.auth.module.Krb5LoginModule required;",
            "Krb5LoginModule cannot be used",
        ),
    ],
)
def test_jaas_that_cannot_be_used_is_told(jaas: str, says: str) -> None:
    with pytest.raises(WrongOption, match=rf"^kafka\.sasl\.jaas\.config.*{says}"):
        for_librdkafka({"sasl.jaas.config": jaas})


def test_a_login_without_its_mechanism_is_told() -> None:
    with pytest.raises(WrongOption, match=r"^kafka\.sasl\.mechanism is missing: PLAIN, SCRAM"):
        for_librdkafka({"security.protocol": "sasl_ssl", "sasl.jaas.config": PLAIN})
    for name in ("sasl.mechanism", "sasl.mechanisms"):
        assert for_librdkafka({"security.protocol": "SASL_SSL", name: "PLAIN"})


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


def test_a_store_of_pkcs12_is_one_that_librdkafka_reads() -> None:
    given = {"ssl.keystore.location": "me.p12", "ssl.keystore.password": "secret"}
    assert for_librdkafka(given) == given


@pytest.mark.parametrize("name", ["ssl.truststore.location", "ssl.keystore.location"])
def test_stores_of_java_are_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(WrongOption, match=rf"^kafka\.{name}: .*kafka\.ssl\.ca\.location"):
        for_librdkafka({name: "store.jks"})
