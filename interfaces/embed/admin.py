"""Admin: topics, groups, offsets and configs of a broker, over REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from interfaces.embed.process import as_setting
from interfaces.embed.rest import Rest

#: Topic and partition.
Place = tuple[str, int]


class Offsets(NamedTuple):
    """Of the log of a partition."""

    start: int
    end: int


class Member(NamedTuple):
    member_id: str
    client_id: str
    assignment: list[Place]


class Group(NamedTuple):
    #: STABLE, EMPTY, PREPARING_REBALANCE, ...
    state: str
    #: classic or consumer.
    type: str
    members: list[Member]


class Admin:
    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def topics(self) -> list[str]:
        return [each["topic_name"] for each in self._rest.items("topics")]

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, object] | None = None
    ) -> None:
        body = {"name": topic, "partitions": partitions, "configs": dict(configs or {})}
        self._rest.post("topics", body=body)

    def delete_topic(self, topic: str) -> None:
        self._rest.delete("topics", topic)

    def offsets(self, topic: str) -> dict[int, Offsets]:
        """Start and end of the log of each partition."""
        return {
            each["partition_id"]: Offsets(each["log_start_offset"], each["log_end_offset"])
            for each in self._rest.items("topics", topic, "partitions")
        }

    def configs(self, topic: str) -> dict[str, str | None]:
        found = self._rest.items("topics", topic, "configs")
        return {each["name"]: each["value"] for each in found}

    def alter_configs(self, topic: str, configs: Mapping[str, object]) -> None:
        """None is the default."""
        data = [
            {"name": name, "operation": "DELETE"}
            if value is None
            else {"name": name, "value": as_setting(value), "operation": "SET"}
            for name, value in configs.items()
        ]
        self._rest.post("topics", topic, "configs:alter", body={"data": data})

    def groups(self) -> list[str]:
        return [each["consumer_group_id"] for each in self._rest.items("groups")]

    def describe_group(self, group: str) -> Group:
        found = self._rest.get("groups", group)
        members = [
            Member(each["consumer_id"], each["client_id"], self._assigned(group, each))
            for each in self._rest.items("groups", group, "consumers")
        ]
        return Group(found["state"], found["type"], members)

    def _assigned(self, group: str, member: Mapping[str, str]) -> list[Place]:
        path = ("groups", group, "consumers", member["consumer_id"], "assignments")
        return [(each["topic_name"], each["partition_id"]) for each in self._rest.items(*path)]

    def delete_group(self, group: str) -> None:
        self._rest.delete("groups", group)

    def committed_offsets(self, group: str) -> dict[Place, int]:
        return {
            (each["topic_name"], each["partition_id"]): each["current_offset"]
            for each in self._rest.items("groups", group, "lags")
        }

    def lag(self, group: str) -> dict[Place, int]:
        """Of the partitions with a committed offset."""
        return {
            (each["topic_name"], each["partition_id"]): each["lag"]
            for each in self._rest.items("groups", group, "lags")
        }

    def reset_offsets(self, group: str, to: str | int, topic: str | None = None) -> None:
        """To "earliest", "latest" or an offset; of a group without members."""
        target = {"to": "offset", "offset": to} if isinstance(to, int) else {"to": to}
        self._rest.post("groups", group, "offsets", body={**target, "topic": topic})
