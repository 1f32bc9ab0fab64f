"""Options of the data source `ottla`; their errors are in test_option_errors.py."""

from __future__ import annotations

import pytest

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import WrongOption

SERVERS = {"kafka.bootstrap.servers": "one:9092,two:9092"}


def options(**given: str) -> KafkaOptions:
    return KafkaOptions(SERVERS | {name.replace("__", "."): given[name] for name in given})


def test_names_are_case_insensitive() -> None:
    assert options(MINPARTITIONS="7").number("minPartitions") == 7
    assert "minPartitions" in options(minpartitions="7")
    assert options().servers == "one:9092,two:9092"


def test_given_client_settings_win_over_defaults() -> None:
    given = options(kafka__client__id="mine", kafka__max__partition__fetch__bytes="99")
    client = given.client(fetch_message_max_bytes=1, client_id="ours", fetch_min_bytes=5)
    assert client["client.id"] == "mine"
    assert client["fetch.message.max.bytes"] == "99"
    assert client["fetch.min.bytes"] == 5
    assert client["bootstrap.servers"] == "one:9092,two:9092"


def test_the_isolation_level_is_case_insensitive() -> None:
    assert options(kafka__isolation__level="READ_COMMITTED").isolation == "read_committed"


def test_group_ids_are_those_of_the_connector() -> None:
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
        ({"buffer.memory": "0"}, '"buffer.memory" value 0 is outside'),
        ({"buffer.memory": "abc"}, '"buffer.memory"'),
        ({"queue.buffering.max.kbytes": "abc"}, '"queue.buffering.max.kbytes"'),
        (
            {"compression.type": "zstd", "compression.zstd.level": "19"},
            '"compression.zstd.level" value 19 is outside',
        ),
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
