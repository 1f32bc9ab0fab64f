"""Reset: deletes all topics, groups, committed offsets, transactions, users, ACLs, quotas and
dynamic configs, in one commit.

For tests: clients stay connected, and `advertised.listeners` and super users stay. Members of
groups are unknown afterwards, and join again; a consumer group that had members stays in memory,
empty. The data of the topics is removed later, as that of all deleted topics.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.configs.state import ConfigState, ResourceConfigs
from application.groups.coordinator import GroupCoordinator
from application.groups.delete import DeleteGroupsService
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.cluster_changes import ClusterChanges
from application.ports.pending import Pending, later
from application.security.acls import AclService
from application.security.quotas import QuotaService
from application.security.users import Users
from application.state.catalog import Catalog
from application.state.runtime import AggregateKey, ignore, respond
from application.topics.delete import DeleteTopicsService
from application.transactions.registry import TransactionRegistry
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, UnknownMemberId
from domain.groups.consumer.group import ConsumerGroup
from domain.security.principal import ANONYMOUS, Principal, parse_principals
from domain.topics.topic import Topic

#: Without it, clients could not connect to a container any longer.
_KEPT = "advertised.listeners"


class ResetService:
    def __init__(
        self,
        catalog: Catalog,
        delete_topics: DeleteTopicsService,
        groups: Groups,
        offsets: Offsets,
        coordinator: GroupCoordinator,
        delete_groups: DeleteGroupsService,
        transactions: TransactionRegistry,
        configs: ConfigState,
        quotas: QuotaService,
        users: Users,
        acls: AclService | None,
        changes: ClusterChanges,
        config: BrokerConfig,
    ) -> None:
        self._catalog = catalog
        self._delete_topics = delete_topics
        self._groups = groups
        self._offsets = offsets
        self._coordinator = coordinator
        self._delete_groups = delete_groups
        self._transactions = transactions
        self._configs = configs
        self._quotas = quotas
        self._users = users
        self._acls = acls
        self._changes = changes
        self._config = config

    def reset(self, by: Principal = ANONYMOUS) -> Pending[BrokerError | None]:
        """Resolved when all is durable; an error if something is not deleted.

        The user `by` stays, who could not log in again.
        May raise NotInMemory (`ClusterChanges.check`).
        """
        self._offsets.check_loaded()
        self._changes.check()
        keys: list[AggregateKey] = []
        for group in list(self._groups):
            is_looked_for = isinstance(group, ConsumerGroup) and not group.is_empty
            self._delete_groups.remove(group, "reset")
            keys += self._delete_groups.keys(group.group_id)
            if is_looked_for:
                # Its clients stop for good if their group is not found.
                self._groups.put(ConsumerGroup(group.group_id))
        self._coordinator.fail_pending(UnknownMemberId())
        for transaction in self._transactions:
            self._transactions.remove(transaction.transactional_id)
            keys.append((self._transactions.runtime, transaction.transactional_id))
        for resource in self._configs.altered():
            configs = self._configs.find(resource).configs
            kept = {_KEPT: configs[_KEPT]} if _KEPT in configs else {}
            self._configs.save(resource, ResourceConfigs(kept, {}), ignore)
            keys.append((self._configs.runtime, resource))
        keys += self._quotas.remove_all()
        kept_users = {by, *parse_principals(self._config.super_users)}
        keys += self._users.remove_all({one.name for one in kept_users if one.kind == "User"})
        if self._acls is not None:
            keys += self._acls.remove_all()
        prohibited = self._delete_topics.is_prohibited
        topics = self._delete_topics.stage([one for one in self._catalog if not prohibited(one)])
        others = later(respond(keys, [None] * len(keys)))
        reset: Pending[BrokerError | None] = Pending()

        def topics_deleted(deleted: list[Topic | BrokerError]) -> None:
            others.then(lambda failures: reset.resolve(_first_error([*deleted, *failures])))

        topics.then(topics_deleted, reset.fail)
        return reset


def _first_error(results: Sequence[object]) -> BrokerError | None:
    return next((one for one in results if isinstance(one, BrokerError)), None)
