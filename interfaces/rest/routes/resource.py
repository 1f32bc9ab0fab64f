"""The base class of all routes."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fastapi import APIRouter
from starlette.requests import Request

from domain.errors import UnknownTopicOrPartition
from domain.partitions.partition import Partition
from domain.topics.topic import Topic
from interfaces.rest.admin import Admin
from interfaces.rest.errors import RestError
from interfaces.rest.urls import Urls


class Routes(ABC):
    """The routes of one resource are methods; `router` maps paths to them."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._broker = admin.broker
        self._node_id = admin.broker.config.node_id

    @abstractmethod
    def router(self) -> APIRouter: ...

    def _urls(self, request: Request) -> Urls:
        return Urls(request, self._broker.cluster_id)

    def _topic(self, name: str) -> Topic:
        topic = self._broker.catalog.topic(name)
        if topic is None:
            raise UnknownTopicOrPartition(f"There is no topic {name}")
        return topic

    def _partition(self, topic_name: str, index: int) -> Partition:
        partition = self._broker.catalog.partition(self._topic(topic_name), index)
        if partition is None:
            raise UnknownTopicOrPartition(f"Topic {topic_name} has no partition {index}.")
        return partition

    def _check_broker(self, broker_id: int) -> None:
        if broker_id != self._node_id:
            raise RestError(404, f"there is no broker {broker_id}", 40411)
