"""Creation and deletion of topics."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class TopicSettings:
    num_partitions: int = setting(
        "num.partitions",
        INT,
        1,
        "Partitions of a topic that is created without a number of partitions.",
        minimum=1,
    )
    default_replication_factor: int = setting(
        "default.replication.factor",
        INT,
        1,
        "Replicas of a topic that is created without a replication factor: brokers that may lead a "
        "partition. A broker that has its store alone has one.",
        minimum=1,
    )
    auto_create_topics_enable: bool = setting(
        "auto.create.topics.enable",
        BOOLEAN,
        True,
        "Whether a topic is created on first use.",
    )
    delete_topic_enable: bool = setting(
        "delete.topic.enable", BOOLEAN, True, "Whether clients may delete topics."
    )
