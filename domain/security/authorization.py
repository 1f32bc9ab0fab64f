"""AclIndex: what ACLs allow, by the rules of Kafka's StandardAuthorizer.

A rule that denies wins over rules that allow. Without any ACL on a resource, the default decides;
with one, also of another principal, what is not allowed is denied. To allow Read, Write, Delete or
Alter allows Describe, and to allow AlterConfigs allows DescribeConfigs; to deny implies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from domain.security.access import Operation, ResourceType
from domain.security.acl import (
    EVERYBODY,
    WILDCARD,
    AclBinding,
    AclFilter,
    PatternType,
    Permission,
    plain_host,
)
from domain.security.principal import Principal

_DESCRIBE = frozenset(
    (Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
)
_DESCRIBE_CONFIGS = frozenset((Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS))
#: A resource without ACLs of its own, as in Kafka's check of super users by resource type.
_ANY_NAME = "hardcode"

#: The bindings of one name or prefix.
_Bindings = dict[AclBinding, None]


class _OfType:
    """The bindings of one resource type."""

    __slots__ = ("literals", "prefix_lengths", "prefixes")

    def __init__(self) -> None:
        self.literals: dict[str, _Bindings] = {}
        self.prefixes: dict[str, _Bindings] = {}
        #: The lengths of all prefixes, each once, in order.
        self.prefix_lengths: list[int] = []

    def table(self, pattern_type: PatternType) -> dict[str, _Bindings]:
        return self.literals if pattern_type is PatternType.LITERAL else self.prefixes

    def measure(self) -> None:
        self.prefix_lengths = sorted({len(prefix) for prefix in self.prefixes})

    def covering(self, name: str) -> Iterator[AclBinding]:
        """The bindings whose resources include this one."""
        yield from self.literals.get(name, ())
        if name != WILDCARD:
            yield from self.literals.get(WILDCARD, ())
        for length in self.prefix_lengths:
            if length > len(name):
                break
            yield from self.prefixes.get(name[:length], ())


class AclIndex:
    def __init__(self, super_users: Iterable[str] = (), allowed_without_acl: bool = False) -> None:
        """`allowed_without_acl`: what may be done to a resource without any ACL."""
        self._super_users = frozenset(super_users)
        self._allowed_without_acl = allowed_without_acl
        self._by_type = {resource_type: _OfType() for resource_type in ResourceType}
        self._bindings: dict[AclBinding, None] = {}

    def __len__(self) -> int:
        return len(self._bindings)

    def __contains__(self, binding: AclBinding) -> bool:
        return binding in self._bindings

    def __iter__(self) -> Iterator[AclBinding]:
        return iter(self._bindings)

    def add(self, bindings: Iterable[AclBinding]) -> None:
        changed = set()
        for binding in bindings:
            of_type = self._by_type[binding.resource_type]
            self._bindings[binding] = None
            table = of_type.table(binding.pattern_type)
            table.setdefault(binding.resource_name, {})[binding] = None
            changed.add(of_type)
        for of_type in changed:
            of_type.measure()

    def remove(self, binding: AclBinding) -> None:
        if binding not in self._bindings:
            return
        del self._bindings[binding]
        of_type = self._by_type[binding.resource_type]
        table = of_type.table(binding.pattern_type)
        of_name = table[binding.resource_name]
        del of_name[binding]
        if not of_name:
            del table[binding.resource_name]
            of_type.measure()

    def allows(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        text, host = str(principal), plain_host(host)
        if text in self._super_users:
            return True
        without_acl, allowed = True, False
        for binding in self._by_type[resource_type].covering(name):
            without_acl = False
            if _concerns(binding, text, host) and _includes(binding, operation):
                if binding.permission is Permission.DENY:
                    return False
                allowed = True
        return allowed or (without_acl and self._allowed_without_acl)

    def allows_any(
        self, principal: Principal, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Whether there can be a resource of this type on which the operation is allowed."""
        if self.allows(principal, host, operation, resource_type, _ANY_NAME):
            return True
        text, host = str(principal), plain_host(host)
        concerned = [
            binding
            for binding in self._bindings
            if binding.resource_type is resource_type
            and binding.operation in (operation, Operation.ALL)
            and _concerns(binding, text, host)
        ]
        denied = [one for one in concerned if one.permission is Permission.DENY]
        allowed = [one for one in concerned if one.permission is Permission.ALLOW]
        if any(map(_is_everything, denied)):
            return False
        return any(_is_everything(one) or not _is_dominated(one, denied) for one in allowed)

    def find(self, matching: AclFilter) -> list[AclBinding]:
        return [binding for binding in self._bindings if matching.matches(binding)]


def _concerns(binding: AclBinding, principal: str, host: str) -> bool:
    return binding.principal in (principal, EVERYBODY) and (
        binding.host == WILDCARD or plain_host(binding.host) == host
    )


def _includes(binding: AclBinding, operation: Operation) -> bool:
    granted = binding.operation
    if granted in (operation, Operation.ALL):
        return True
    if binding.permission is Permission.DENY:
        return False
    if operation is Operation.DESCRIBE:
        return granted in _DESCRIBE
    return operation is Operation.DESCRIBE_CONFIGS and granted in _DESCRIBE_CONFIGS


def _is_everything(binding: AclBinding) -> bool:
    return binding.pattern_type is PatternType.LITERAL and binding.resource_name == WILDCARD


def _is_dominated(allowed: AclBinding, denied: list[AclBinding]) -> bool:
    """Whether the denied resources include those that are allowed."""
    return any(
        allowed.resource_name.startswith(one.resource_name)
        if one.pattern_type is PatternType.PREFIXED
        else allowed[1:3] == one[1:3]
        for one in denied
    )
