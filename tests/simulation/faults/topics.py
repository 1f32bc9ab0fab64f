"""Faults of topics and producer ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.state.runtime import respond
from application.topics import create, partitions
from application.topics.create import Created, CreateTopicsService
from application.topics.dropping import Dropping
from application.topics.state import Changes, TopicState
from domain.errors import TopicAlreadyExists
from domain.topics.topic import Topic
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository

Patch = pytest.MonkeyPatch


def producer_ids_are_not_reserved(patch: Patch) -> None:
    patch.setattr(StoredClusterRepository, "reserve_producer_ids", lambda self, next_id: None)


def topic_is_visible_before_its_commit(patch: Patch) -> None:
    def hasty(self: TopicState, name: str, changes: Changes) -> None:
        if self._catalog.topic(name) is None:
            self._catalog.put(changes[-1].topic)

    patch.setattr(TopicState, "decided", hasty)


def topic_exists_response_before_its_commit(patch: Patch) -> None:
    def hasty(places: Any, results: list[Created]) -> Any:
        if any(isinstance(one, TopicAlreadyExists) for one in results):
            return results
        return respond(places, results)

    patch.setattr(create, "respond", hasty)


def auto_created_topic_is_returned_before_its_commit(patch: Patch) -> None:
    automatically = CreateTopicsService.create_automatically

    def hasty(self: CreateTopicsService, names: list[str], *by: Any) -> list[Created]:
        automatically(self, names, *by)
        return [
            self._catalog.topic(name) or Topic(name, b"0123456789abcdef", (0,), {})
            for name in names
        ]

    patch.setattr(CreateTopicsService, "create_automatically", hasty)


def second_request_for_a_new_topic_gets_no_response(patch: Patch) -> None:
    automatically = CreateTopicsService.create_automatically

    def forgetful(self: CreateTopicsService, names: list[str], *by: Any) -> Any:
        if any(name in self._topics.runtime for name in names):
            return Pending()
        return automatically(self, names, *by)

    patch.setattr(CreateTopicsService, "create_automatically", forgetful)


def validate_only_creates_the_topic(patch: Patch) -> None:
    make = CreateTopicsService.create

    def eager(self: CreateTopicsService, topics: Any, validate_only: bool, *by: Any) -> Any:
        return make(self, topics, False, *by)

    patch.setattr(CreateTopicsService, "create", eager)


def validated_topic_exists_before_its_commit(patch: Patch) -> None:
    make = CreateTopicsService.create

    def hasty(self: CreateTopicsService, topics: Any, validate_only: bool, *by: Any) -> Any:
        with pytest.MonkeyPatch.context() as context:
            if validate_only:
                context.setattr(create, "respond", at_once)
            return make(self, topics, validate_only, *by)

    patch.setattr(CreateTopicsService, "create", hasty)


def partitions_are_visible_before_their_commit(patch: Patch) -> None:
    def hasty(self: TopicState, name: str, changes: Changes) -> None:
        if self._catalog.topic(name) is not None and not changes[-1].deleted:
            self._catalog.put(changes[-1].topic)

    patch.setattr(TopicState, "decided", hasty)


def create_partitions_response_before_its_commit(patch: Patch) -> None:
    patch.setattr(partitions, "respond", at_once)


def at_once(places: Any, results: list[Created]) -> list[Created]:
    return results


def partition_ids_are_assigned_twice(patch: Patch) -> None:
    reserve = StoredTopicRepository.reserve_partition_ids

    def again(self: StoredTopicRepository, count: int) -> tuple[int, ...]:
        return tuple(max(one - 1, 0) for one in reserve(self, count))

    patch.setattr(StoredTopicRepository, "reserve_partition_ids", again)


def dropping_that_waits_is_forgotten(patch: Patch) -> None:
    stage = Dropping._stage

    def hasty(self: Dropping, partition_id: int) -> bool:
        try:
            return stage(self, partition_id)
        except NotInMemory:
            self._topics.dropped(partition_id)
            return True

    patch.setattr(Dropping, "_stage", hasty)


TOPICS: list[Callable[[Patch], None]] = [
    producer_ids_are_not_reserved,
    topic_is_visible_before_its_commit,
    topic_exists_response_before_its_commit,
    auto_created_topic_is_returned_before_its_commit,
    second_request_for_a_new_topic_gets_no_response,
    validate_only_creates_the_topic,
    validated_topic_exists_before_its_commit,
    partitions_are_visible_before_their_commit,
    create_partitions_response_before_its_commit,
    partition_ids_are_assigned_twice,
    dropping_that_waits_is_forgotten,
]
