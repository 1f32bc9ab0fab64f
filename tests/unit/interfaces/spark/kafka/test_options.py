"""Options of the data source: every wrong one is told in a line, before anything is read."""

from __future__ import annotations

import pytest

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import WrongOption

SERVERS = {"kafka.bootstrap.servers": "one:9092,two:9092"}


def options(**given: str) -> KafkaOptions:
    return KafkaOptions(SERVERS | {name.replace("__", "."): given[name] for name in given})


def test_names_are_found_in_any_case() -> None:
    assert options(MINPARTITIONS="7").number("minPartitions") == 7
    assert "minPartitions" in options(minpartitions="7")
    assert options().servers == "one:9092,two:9092"


def test_a_broker_must_be_named() -> None:
    with pytest.raises(WrongOption, match=r"^the option kafka\.bootstrap\.servers is missing"):
        KafkaOptions({"subscribe": "t"})
    with pytest.raises(WrongOption, match="is missing"):
        KafkaOptions({"kafka.bootstrap.servers": " , "})


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("subscrbe", "subscribe"),
        ("startingOffset", "startingOffsets"),
        ("failOnDataloss2", "failOnDataLoss"),
        ("bootstrap.servers", "kafka.bootstrap.servers"),
    ],
)
def test_an_unknown_option_is_refused_with_what_was_meant(wrong: str, meant: str) -> None:
    with pytest.raises(WrongOption) as refusal:
        KafkaOptions(SERVERS | {wrong: "x"})
    assert str(refusal.value) == f"there is no option {wrong.lower()!r}; did you mean {meant}?"


def test_an_unknown_option_that_is_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(WrongOption, match=r"^there is no option 'zzz'$"):
        KafkaOptions(SERVERS | {"zzz": "x"})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("fetchOffset.numRetries", "x", "'x' is no whole number"),
        ("fetchOffset.numRetries", "-1", "-1 is less than 0"),
        ("fetchOffset.retryIntervalMs", "1.5", "'1.5' is no whole number"),
        ("kafkaConsumer.pollTimeoutMs", "0", "0 is less than 1"),
    ],
)
def test_how_a_broker_is_asked_is_looked_at_before_it_is_asked(
    name: str, value: str, says: str
) -> None:
    with pytest.raises(WrongOption) as refusal:
        KafkaOptions(SERVERS | {name: value})
    assert str(refusal.value) == f"{name}: {says}"
    assert KafkaOptions(SERVERS | {name: "5"}).number(name) == 5


def test_a_misspelt_option_of_the_connector_is_told() -> None:
    with pytest.raises(WrongOption, match=r"did you mean fetchOffset\.numRetries\?$"):
        KafkaOptions(SERVERS | {"fetchOffset.numRetris": "5"})


def test_what_is_given_for_the_client_wins_over_ours() -> None:
    given = options(kafka__client__id="mine", kafka__max__partition__fetch__bytes="99")
    client = given.client(fetch_message_max_bytes=1, client_id="ours", fetch_min_bytes=5)
    assert client["client.id"] == "mine"
    assert client["fetch.message.max.bytes"] == "99"
    assert client["fetch.min.bytes"] == 5
    assert client["bootstrap.servers"] == "one:9092,two:9092"


def test_a_setting_that_no_client_knows_is_refused() -> None:
    from confluent_kafka.admin import AdminClient

    with pytest.raises(WrongOption) as refusal:
        options(kafka__isolation__levle="read_committed").made(AdminClient)
    assert str(refusal.value) == (
        "there is no option kafka.isolation.levle; did you mean kafka.isolation.level?"
    )
    with pytest.raises(
        WrongOption, match=r'Invalid value "sloppy" .* kafka\.broker\.address\.family'
    ):
        options(kafka__broker__address__family="sloppy").made(AdminClient)


def test_the_isolation_is_the_same_however_it_is_spelt() -> None:
    assert options(kafka__isolation__level="READ_COMMITTED").isolation == "read_committed"


def test_settings_that_only_together_are_wrong_are_named_as_they_were_given() -> None:
    from confluent_kafka import Producer

    with pytest.raises(WrongOption, match=r"kafka\.delivery\.timeout\.ms must be greater than k"):
        options(kafka__delivery__timeout__ms="10").made(Producer, linger_ms=20)


def test_groups_are_named_as_the_connector_names_them() -> None:
    first, second = options().group(), options().group()
    assert first != second
    assert first.startswith("spark-kafka-source-")
    assert options(groupIdPrefix="night").group().startswith("night-")
    assert options(kafka__group__id="given").group() == "given"


def test_a_file_that_is_not_there_is_named() -> None:
    from confluent_kafka.admin import AdminClient

    made = options(kafka__security__protocol="SSL", kafka__ssl__ca__location="/nowhere/ca.pem")
    with pytest.raises(WrongOption, match=r"^kafka\.ssl\.ca\.location: there is no /nowhere/ca"):
        made.made(AdminClient)
