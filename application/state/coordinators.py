"""Coordinators: which node coordinates a group or a transaction, as in Kafka.

It is the leader of one partition of `__consumer_offsets` or `__transaction_state`: the one that the
group id or the transactional id chooses. What this node coordinates is in memory: it is loaded when
this node becomes the leader, and dropped when that ends. In a new leader epoch of this node it
stays: requests have changed it meanwhile, and no other node has led, since a partition leaves by a
commit of this node only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from application.ports.placement import Placement
from application.state.catalog import Catalog
from application.state.min_insync_replicas import MinInsyncReplicas
from application.state.notifying import notify_each
from domain.cluster.nodes import NO_LEADER, Leader
from domain.errors import CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator
from domain.topics.internal_records import partition_of

#: Whether a group id or transactional id is one of those that have moved.
Moved = Callable[[str], bool]

_MAY_BE_REPLACED = "Another broker may have taken the place of this one."


class _Led(NamedTuple):
    """Partitions of the topic that are led here."""

    #: All of the topic.
    partition_ids: tuple[int, ...] = ()
    leaders: Mapping[int, Leader] = {}
    #: This node is alone: it coordinates everything, also without the topic.
    is_all: bool = False

    def partition_id(self, key: str) -> int:
        return self.partition_ids[partition_of(key, len(self.partition_ids))]

    def has(self, key: str) -> bool:
        return self.is_all or (bool(self.leaders) and self.partition_id(key) in self.leaders)

    @property
    def is_any(self) -> bool:
        return self.is_all or bool(self.leaders)

    def without(self, others: Mapping[int, Leader]) -> _Led:
        leaders = {one: leader for one, leader in self.leaders.items() if one not in others}
        return self._replace(leaders=leaders)


class Coordinators:
    """Of all groups, or of all transactions."""

    def __init__(
        self,
        topic_name: str,
        catalog: Catalog,
        placement: Placement,
        min_insync_replicas: MinInsyncReplicas,
    ) -> None:
        self._topic_name = topic_name
        self._catalog = catalog
        self._placement = placement
        self._min_insync_replicas = min_insync_replicas
        self._lost: list[Callable[[Moved], None]] = []
        self._gained: list[Callable[[Moved], None]] = []
        self._led = self._led_now()
        placement.on_moved(lambda _: self._follow())
        catalog.on_layout_of(topic_name, self._follow)

    def node_id(self, key: str) -> int:
        """-1: none, because the topic is not created yet, or its partition has no leader."""
        if self._placement.is_alone:
            return self._placement.node_id
        topic = self._catalog.topic(self._topic_name)
        if topic is None:
            return NO_LEADER.node_id
        ids = topic.partition_ids
        return self._placement.leader(ids[partition_of(key, len(ids))]).node_id

    def is_here(self, key: str) -> bool:
        led = self._led
        if led.is_all:
            return True
        if not led.leaders:
            return False
        partition_id = led.partition_id(key)
        # The placement may have changed while others hear of it before `_follow`.
        return led.leaders.get(partition_id) == self._placement.leader(partition_id)

    def check_to_fetch(self, key: str) -> None:
        """For fetched offsets, which must not be older than those of another broker.

        The Java client and librdkafka 2.16 (its issue 5586) would never repeat the request after
        CoordinatorNotAvailable: a member would end, or read nothing. Raises NotCoordinator or
        CoordinatorLoadInProgress, which Java repeats, and librdkafka the latter.
        """
        try:
            self.check_here(key)
        except CoordinatorNotAvailable as moving:
            raise CoordinatorLoadInProgress(moving.message) from moving
        if not self.has_lease:
            raise CoordinatorLoadInProgress(_MAY_BE_REPLACED)

    @property
    def has_lease(self) -> bool:
        """Otherwise another broker may have taken the place of this one."""
        return self._placement.has_lease

    def check_to_list(self) -> None:
        """Raises CoordinatorLoadInProgress, which Java repeats for lists of both kinds."""
        if not self.has_lease:
            raise CoordinatorLoadInProgress(_MAY_BE_REPLACED)

    def check_lease(self) -> None:
        """Before this node is named as coordinator. Raises CoordinatorNotAvailable."""
        if not self.has_lease:
            raise CoordinatorNotAvailable(_MAY_BE_REPLACED)

    def check_to_serve(self, key: str) -> None:
        """For requests of clients. Raises NotCoordinator or CoordinatorNotAvailable."""
        self.check_here(key)
        if not self.has_lease:
            # KafkaJS would send a heartbeat here again after CoordinatorNotAvailable.
            raise NotCoordinator(_MAY_BE_REPLACED)

    def check_here(self, key: str) -> None:
        """Raises NotCoordinator or CoordinatorNotAvailable."""
        if self.is_here(key):
            return
        node_id = self.node_id(key)
        if node_id in (NO_LEADER.node_id, self._placement.node_id):
            raise CoordinatorNotAvailable(f"No node coordinates {key} now.")
        raise NotCoordinator(f"Node {node_id} coordinates {key}.")

    def check_copies(self) -> None:
        """Before changes that Kafka writes to the topic. Raises CoordinatorNotAvailable."""
        topic = self._catalog.topic(self._topic_name)
        if topic is not None and self._min_insync_replicas.is_under(self._catalog.config(topic)):
            raise CoordinatorNotAvailable(
                f"The store has fewer copies than min.insync.replicas of {self._topic_name}"
            )

    # ---- moves

    def on_moved(self, lost: Callable[[Moved], None], gained: Callable[[Moved], None]) -> None:
        """Calls `lost` when this node has to drop some, and then `gained` for some to be loaded."""
        self._lost.append(lost)
        self._gained.append(gained)

    def _led_now(self) -> _Led:
        placement, node_id = self._placement, self._placement.node_id
        if placement.is_alone:
            return _Led(is_all=True)
        topic = self._catalog.topic(self._topic_name)
        ids = () if topic is None else topic.partition_ids
        leaders = {one: placement.leader(one) for one in ids}
        here = {one: leader for one, leader in leaders.items() if leader.node_id == node_id}
        return _Led(ids, here)

    def _follow(self) -> None:
        before, after = self._led, self._led_now()
        if before == after:
            return
        stay: dict[int, Leader] = {}
        if before.partition_ids == after.partition_ids:
            stay = {one: after.leaders[one] for one in before.leaders if one in after.leaders}
        lost, gained = before.without(stay), after.without(stay)
        self._led = after.without(gained.leaders)._replace(is_all=False)
        faults: list[Exception] = []
        if lost.is_any:
            faults += notify_each(self._lost, lambda call: call(lost.has))
        if gained.is_any:
            faults += notify_each(self._gained, lambda call: call(gained.has))
        if not faults:
            self._led = after
            return
        # Those that cannot be read are not here: the next move tries again.
        raise faults[0]
