"""Mirrors the progress of a stream to a consumer group, so that tools show its lag."""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.ranges import Place

_PATIENCE_S = 5.0


def mirrored_group(options: KafkaOptions) -> str | None:
    """None: the option is off."""
    if not options.flag("commitOffsetsToGroup", False):
        return None
    if options.own_group is None:
        raise WrongOption("commitOffsetsToGroup=true needs option kafka.group.id")
    return options.own_group


def mirror(broker: Broker, group: str, offsets: Mapping[Place, int]) -> None:
    """Ignores failures: the offsets of the query are in its checkpoint."""
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

    places = [TopicPartition(*place, offset) for place, offset in offsets.items()]
    if not places:
        return
    try:
        responses = broker.admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, places)], request_timeout=_PATIENCE_S
        )
        for response in responses.values():
            response.result(_PATIENCE_S + 1)
    except (KafkaException, TimeoutError):
        pass
