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


def test_what_is_given_for_the_client_wins_over_ours() -> None:
    given = options(kafka__client__id="mine", kafka__max__partition__fetch__bytes="99")
    client = given.client(fetch_message_max_bytes=1, client_id="ours", fetch_min_bytes=5)
    assert client["client.id"] == "mine"
    assert client["fetch.message.max.bytes"] == "99"
    assert client["fetch.min.bytes"] == 5
    assert client["bootstrap.servers"] == "one:9092,two:9092"


def test_the_isolation_is_the_same_however_it_is_spelt() -> None:
    assert options(kafka__isolation__level="READ_COMMITTED").isolation == "read_committed"


def test_groups_are_named_as_the_connector_names_them() -> None:
    first, second = options().group(), options().group()
    assert first != second
    assert first.startswith("spark-kafka-source-")
    assert options(groupIdPrefix="night").group().startswith("night-")
    assert options(kafka__group__id="given").group() == "given"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"isolation.levle": "x"}, 'property: "isolation.levle"'),
        ({"request.timeout.ms": "600000"}, '"request.timeout.ms" value 600000 is outside'),
        ({"security.protocol": "SSL", "ssl.ca.location": "/none"}, "kafka.ssl.ca.location: there"),
    ],
)
def test_librdkafka_refuses_settings_by_the_names_that_were_given(
    given: dict[str, str], text: str
) -> None:
    from confluent_kafka.admin import AdminClient

    made = KafkaOptions(SERVERS | {f"kafka.{name}": value for name, value in given.items()})
    with pytest.raises(WrongOption) as refusal:
        made.made(AdminClient)
    assert text in str(refusal.value)
    assert "\n" not in str(refusal.value)
