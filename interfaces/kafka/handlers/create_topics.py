"""CreateTopics (key 19), versions 2-7.

4  -1 for the broker's default number of partitions and replicas (accepted in all versions)
5  flexible; what the topic became stands in the answer (KIP-525)
7  topic ids
"""

from __future__ import annotations

from collections import Counter

from application.ports.pending import Pending
from application.topics.create import Created, NewTopic
from domain.configs.topic import deciding_source, describe_topic_configs
from domain.errors import BrokerError, InvalidRequest
from domain.topics.topic import Topic
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.config_numbers import SOURCES
from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

REPLICATION_FACTOR = 1


def handle(request: CreateTopicsRequest, call: Call) -> CreateTopicsResponse | None:
    call.topics = len(request.topics)
    times = Counter(topic.name for topic in request.topics)
    refused = [
        _refused(name, InvalidRequest("Duplicate topic name."), call)
        for name, count in times.items()
        if count > 1
    ]
    wanted = [_new_topic(topic) for topic in request.topics if times[topic.name] == 1]
    names = [new.name for new in wanted]
    created = call.broker.topics.create_topics.create(wanted, request.validate_only)
    if isinstance(created, Pending):
        call.respond_later(created, lambda late: _response(late, names, refused, call))
        return None
    return _response(created, names, refused, call)


def _new_topic(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        [(one.partition_index, one.broker_ids) for one in topic.assignments],
        {config.name: config.value for config in topic.configs},
    )


def _response(
    created: list[Created],
    names: list[str],
    refused: list[CreatableTopicResult],
    call: Call,
) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=refused
        + [
            _topic(one, call) if isinstance(one, Topic) else _refused(name, one, call)
            for name, one in zip(names, created, strict=True)
        ]
    )


def _topic(topic: Topic, call: Call) -> CreatableTopicResult:
    config = call.broker.config
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_code=0,
        error_message=None,
        num_partitions=len(topic.partition_ids),
        replication_factor=REPLICATION_FACTOR,
        configs=[
            CreatableTopicConfigs(
                name=entry.name,
                value=entry.text,
                read_only=False,
                config_source=SOURCES[deciding_source(entry.name, topic.configs, config)],
                is_sensitive=entry.definition.sensitive,
            )
            for entry in describe_topic_configs(topic.configs, config)
        ],
    )


def _refused(name: str, error: BrokerError, call: Call) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name, error_code=call.code(error), error_message=error.message, configs=[]
    )
