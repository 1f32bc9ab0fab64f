"""Settings as Java's client has them, for librdkafka."""

from __future__ import annotations

import pytest

from interfaces.spark.kafka.client_settings import (
    for_librdkafka,
    in_javas_names,
    may_be_idempotent,
    on_command_line,
)
from interfaces.spark.query.failures import WrongOption

PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="ann" password="a\\"b;c";'
)


def test_what_both_have_stays_as_it_is() -> None:
    given = {"isolation.level": "read_committed", "client.rack": "a", "retries": "5"}
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


@pytest.mark.parametrize(
    ("name", "value", "becomes"),
    [
        ("batch.size", "0", {"batch.size": "1"}),
        ("max.request.size", "100", {"message.max.bytes": "1000"}),
        ("request.timeout.ms", "400000", {"socket.timeout.ms": "300000"}),
        ("fetch.max.bytes", "1000", {"fetch.max.bytes": "1000000"}),
        ("connections.max.idle.ms", "-1", {"connections.max.idle.ms": "0"}),
        ("metadata.max.age.ms", str(2**63 - 1), {"metadata.max.age.ms": "86400000"}),
        ("buffer.memory", "0", {"queue.buffering.max.kbytes": "1"}),
        ("linger.ms", " 7 ", {"linger.ms": "7"}),
        ("linger.ms", "0.5", {"linger.ms": "0.5"}),
        ("linger.ms", "1000000", {"linger.ms": "900000", "delivery.timeout.ms": "930000"}),
        (
            *("reconnect.backoff.ms", "2000"),
            {"reconnect.backoff.ms": "2000", "reconnect.backoff.max.ms": "2000"},
        ),
        (
            *("reconnect.backoff.max.ms", "9"),
            {"reconnect.backoff.ms": "9", "reconnect.backoff.max.ms": "9"},
        ),
        (
            *("session.timeout.ms", "400000"),
            {"session.timeout.ms": "400000", "max.poll.interval.ms": "400000"},
        ),
        ("max.poll.interval.ms", "1", {"max.poll.interval.ms": "45000"}),
        ("isolation.level", "READ_COMMITTED", {"isolation.level": "read_committed"}),
        ("security.protocol", "SASL_SSL", {"security.protocol": "sasl_ssl"}),
        ("check.crcs", "TRUE", {"check.crcs": "true"}),
        ("partitioner.ignore.keys", "true", {"partitioner": "random"}),
        ("partitioner.ignore.keys", "false", {}),
        ("sasl.oauthbearer.header.urlencode", "false", {}),
    ],
)
def test_what_java_takes_becomes_what_librdkafka_takes(
    name: str, value: str, becomes: dict[str, str]
) -> None:
    given = {name: value} | ({"sasl.mechanism": "PLAIN"} if value == "SASL_SSL" else {})
    made = for_librdkafka(given)
    made.pop("sasl.mechanism", None)
    assert made == becomes


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("linger.ms", "x", "'x' is no whole number"),
        ("batch.size", "-1", "-1 is less than 0"),
        ("batch.size", str(2**31), "2147483648 is more than 2147483647"),
        ("delivery.timeout.ms", "0", "0 is less than 1"),
        ("compression.zstd.level", "23", "23 is more than 22"),
        ("compression.type", "foo", "'foo' is none of none, gzip, snappy, lz4, zstd"),
        ("acks", "2", "'2' is none of all, -1, 0, 1"),
        ("isolation.level", "sloppy", "'sloppy' is none of read_uncommitted, read_committed"),
        ("check.crcs", "yes", "'yes' is none of true, false"),
    ],
)
def test_what_java_refuses_is_refused_by_the_name_that_was_given(
    name: str, value: str, says: str
) -> None:
    with pytest.raises(WrongOption) as refusal:
        for_librdkafka({name: value})
    assert str(refusal.value) == f"kafka.{name}: {says}"


def test_the_level_counts_that_is_of_the_codec() -> None:
    levels = {"compression.gzip.level": "5", "compression.lz4.level": "17"}
    assert "compression.level" not in for_librdkafka(levels)
    for codec, level in (("GZIP", "5"), ("lz4", "12")):
        made = for_librdkafka({"compression.type": codec, **levels})
        assert made == {"compression.type": codec.lower(), "compression.level": level}


@pytest.mark.parametrize(
    ("settings", "may"),
    [
        ({}, True),
        ({"acks": "all", "retries": "1", "max.in.flight.requests.per.connection": "5"}, True),
        ({"acks": "1"}, False),
        ({"request.required.acks": 0}, False),
        ({"retries": "0"}, False),
        ({"max.in.flight.requests.per.connection": "6"}, False),
        ({"max.in.flight": 6}, False),
    ],
)
def test_what_excludes_idempotence(settings: dict[str, object], may: bool) -> None:
    assert may_be_idempotent(settings) is may


def test_providers_of_values_are_refused_by_whatever_name() -> None:
    for name in ("config.providers", "config.providers.file.class"):
        with pytest.raises(WrongOption, match=rf"^kafka\.{name} cannot be set: values are taken"):
            for_librdkafka({name: "x"})


def test_librdkafka_complains_in_the_names_that_were_given() -> None:
    said = "`message.timeout.ms` must be greater than `linger.ms`"
    assert in_javas_names(said, []) == (
        "kafka.delivery.timeout.ms must be greater than kafka.linger.ms"
    )
    said = "`retries` must be set >= 1 when `enable.idempotence` is true"
    assert in_javas_names(said, []).startswith("kafka.retries must be set >= 1 when kafka.enable.")
    said = 'Invalid value "a.b" for configuration property "compression.codec"'
    assert in_javas_names(said, []).startswith('Invalid value "a.b" for ')
    said = 'value for configuration property "queue.buffering.max.ms"'
    assert in_javas_names(said, ["queue.buffering.max.ms"]).endswith(
        "property kafka.queue.buffering.max.ms"
    )


def test_on_the_command_line_settings_are_named_as_they_are_said_there() -> None:
    for said, line in (
        ("is larger than kafka.max.request.size allows", "is larger than -X max.request.size al"),
        ("there is no option kafka.a.b; did you mean kafka.acks.c?", "there is no option -X a.b;"),
        ("kafka.bootstrap.servers: '::' is no", "--bootstrap-server: '::' is no"),
        ("there is no topic kafka.orders.v1 at h:1", "there is no topic kafka.orders.v1 at"),
        ("subscribePattern: '(' cannot", "--pattern: '(' cannot"),
        ("topic 'kafka.fetch.min.bytes': no", "topic 'kafka.fetch.min.bytes': no"),
    ):
        assert on_command_line(said).startswith(line)
