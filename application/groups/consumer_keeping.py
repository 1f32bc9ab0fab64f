"""ConsumerKeeping: what becomes of consumer groups is kept, and silence has its end.

Both kinds of requests come here with their changes: those of the consumer protocol, and those of
the classic one to a group that not all members have upgraded in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from application.configs.groups import GroupConfigs
from application.groups.conversion import Conversion
from application.groups.deadlines import Deadlines
from application.groups.regexes import Regexes
from application.groups.registry import Groups
from application.pending import Pending
from application.ports.clock import Clock
from application.topics.catalog import Catalog
from application.upkeep.spare_time import SpareTime
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, CoordinatorNotAvailable, StorageFailed
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import Surroundings, topics_are_due, update_epoch
from domain.groups.consumer.leave import take_out
from domain.groups.consumer.member import MemberState, MemberSubscription
from domain.groups.consumer.target import GroupRules
from domain.groups.consumer.timeouts import Timeout
from domain.groups.group import Changes

T = TypeVar("T")


class ConsumerKeeping:
    def __init__(
        self,
        groups: Groups,
        configs: GroupConfigs,
        catalog: Catalog,
        regexes: Regexes,
        clock: Clock,
        spare_time: SpareTime,
        config: BrokerConfig,
        conversion: Conversion,
    ) -> None:
        self._groups = groups
        self._configs = configs
        self._catalog = catalog
        self._regexes = regexes
        self._clock = clock
        self._conversion = conversion
        self.rules = GroupRules(
            config.group_consumer_max_size,
            config.group_consumer_assignors,
        )
        self._deadlines = Deadlines(spare_time, clock, self._due)
        groups.when_lost(self.watch_all_of)
        regexes.serve(self._wants, self._regexes_found)

    def start(self) -> None:
        """From now on silence counts, also of members that an earlier broker knew."""
        for group in self._groups:
            self.watch_all_of(group.group_id)

    # what becomes of a group

    def find(self, group_id: str) -> ConsumerGroup | None:
        group = self._groups.find(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def surroundings(self, group_id: str) -> Surroundings:
        return Surroundings(self._catalog, self._regexes.look(group_id), self.rules)

    def keep(self, group_id: str, changes: Changes) -> Pending[StorageFailed | None] | None:
        """None: nothing has changed that the store does not know."""
        before = self._groups.find(group_id)
        pending = self._kept(group_id, changes)
        after = self._groups.find(group_id)
        if isinstance(before, ClassicGroup) and isinstance(after, ConsumerGroup):
            self._conversion.is_consumer_now(group_id)
            self.watch_all_of(group_id)
        elif isinstance(before, ConsumerGroup) and isinstance(after, ClassicGroup):
            self._conversion.is_classic_now(group_id)
        return pending

    def looked_at_topics(self, group_id: str, around: Surroundings) -> None:
        """What was decided has taken into account which topics there are."""
        group = self.find(group_id)
        if group is not None and topics_are_due(group, around) and around.regexes.is_complete:
            group.topics_seen(around.topics.layout_revision)

    def _wants(self, group_id: str, regex: str) -> bool:
        group = self.find(group_id)
        return group is not None and any(one.regex == regex for one in group.members.values())

    def _regexes_found(self, group_id: str) -> None:
        """What a member has been waiting for since it joined; the next heartbeat goes on."""
        group = self.find(group_id)
        if group is not None and group.members:
            around = self.surroundings(group_id)
            draft = group.draft()
            update_epoch(draft, 0, around)
            self.keep(group_id, [*draft.changes])
            self.looked_at_topics(group_id, around)

    def _kept(self, group_id: str, changes: Changes) -> Pending[StorageFailed | None] | None:
        if not changes and self._groups.is_kept(group_id):
            return None
        pending: Pending[StorageFailed | None] = Pending()
        if changes:
            self._groups.keep(group_id, changes, pending.resolve)
        else:
            self._groups.when_kept(group_id, pending.resolve)
        return pending

    def without(self, group: ConsumerGroup, member_ids: Sequence[str]) -> Changes:
        """The changes by which they go, and the group perhaps becomes a classic one."""
        if self._conversion.goes_classic_without(group, member_ids):
            return self._conversion.to_classic(group, group, member_ids, rebalances=True)
        draft = group.draft()
        take_out(draft, member_ids, self._catalog)
        return [*draft.changes]

    # time

    def begin_session(self, group: ConsumerGroup, member: MemberSubscription) -> None:
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        else:
            timeout_ms = self._configs.of(group.group_id).consumer_session_timeout_ms
        self.set(group, member.member_id, Timeout.SESSION, timeout_ms)

    def begin_revocation(self, group: ConsumerGroup, member: MemberSubscription) -> None:
        """Of what it was just told to give up, if it was."""
        state = group.current(member.member_id).state
        if state is MemberState.UNREVOKED_PARTITIONS and member.classic is None:
            self.set(group, member.member_id, Timeout.REVOCATION, member.rebalance_timeout_ms)
        else:
            group.timeouts.cancel(member.member_id, Timeout.REVOCATION)

    def set(self, group: ConsumerGroup, member_id: str, timeout: Timeout, after_ms: int) -> None:
        deadline_ms = self._clock.monotonic_ms() + after_ms
        group.timeouts.set(member_id, timeout, deadline_ms)
        self._deadlines.watch(group.group_id, deadline_ms)

    def set_if_absent(
        self, group: ConsumerGroup, member_id: str, timeout: Timeout, after_ms: int
    ) -> None:
        deadline_ms = self._clock.monotonic_ms() + after_ms
        group.timeouts.set_if_absent(member_id, timeout, deadline_ms)
        self._deadlines.watch(group.group_id, deadline_ms)

    def watch_all_of(self, group_id: str) -> None:
        """The group was read from the store, which knows of no time."""
        group = self._groups.find(group_id)
        if isinstance(group, ConsumerGroup):
            for member in group.members.values():
                self.begin_session(group, member)
                self.begin_revocation(group, member)

    def _due(self, group_id: str) -> int | None:
        group = self._groups.find(group_id)
        if not isinstance(group, ConsumerGroup):
            return None
        expired = group.timeouts.expired(self._clock.monotonic_ms())
        if expired:
            self.keep(group_id, self.without(group, expired))
        return group.timeouts.next_ms() if self._groups.find(group_id) is group else None


def when_kept(kept: Pending[StorageFailed | None], answer: T) -> Pending[T | BrokerError]:
    """The answer, when what it tells of is kept."""
    pending: Pending[T | BrokerError] = Pending()
    kept.then(
        lambda failure: pending.resolve(
            answer
            if failure is None
            else CoordinatorNotAvailable("What the group has become could not be kept.")
        )
    )
    return pending
