from __future__ import annotations

from confluent_kafka import KafkaError

from interfaces.terminal.client_errors import in_words


def test_the_text_of_a_broker_begins_with_no_name_of_a_response() -> None:
    text = "Broker: Group authorization failed"
    for before in ("", "ListConsumerGroupOffsetsResponse response failure: "):
        error = KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED, before + text)
        assert in_words(error) == "Group authorization failed (GROUP_AUTHORIZATION_FAILED)"
