"""ACLs as JSON, in the shapes of Confluent's v3."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from domain.security.access import Operation, ResourceType
from domain.security.acl import WILDCARD, AclBinding, AclFilter, PatternType, Permission
from interfaces.rest.shapes.common import RequestModel, example
from interfaces.rest.shapes.groups import as_constant
from interfaces.rest.urls import Urls

E = TypeVar("E", bound=Enum)

ResourceWord = Literal["TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"]
PatternWord = Literal["LITERAL", "PREFIXED"]
PermissionWord = Literal["ALLOW", "DENY"]
OperationWord = Literal[
    "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS",
    "TWO_PHASE_COMMIT",
]  # fmt: skip
#: Matches everything, as a parameter that is missing.
_ANY = "ANY"


class AclMetadata(TypedDict):
    self: str


class AclBody(TypedDict):
    kind: str
    metadata: AclMetadata
    cluster_id: str
    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str


class AclFields(RequestModel):
    resource_type: ResourceWord
    resource_name: str
    pattern_type: PatternWord = "LITERAL"
    principal: str
    host: str = WILDCARD
    operation: OperationWord
    permission: PermissionWord = "ALLOW"

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra=example(
            resource_type="TOPIC",
            resource_name="orders",
            pattern_type="LITERAL",
            principal="User:alice",
            host="*",
            operation="READ",
            permission="ALLOW",
        ),
    )

    def binding(self) -> AclBinding:
        return AclBinding(
            _member(ResourceType, self.resource_type),
            self.resource_name,
            _member(PatternType, self.pattern_type),
            self.principal,
            self.host,
            _member(Operation, self.operation),
            _member(Permission, self.permission),
        )


class AclQuery(RequestModel):
    """Fields that are missing, or ANY, match everything."""

    resource_type: ResourceWord | Literal["ANY"] = "ANY"
    resource_name: str | None = None
    #: MATCH: also prefixes of the name, and `*`.
    pattern_type: PatternWord | Literal["ANY", "MATCH"] = "ANY"
    principal: str | None = None
    host: str | None = None
    operation: OperationWord | Literal["ANY"] = "ANY"
    permission: PermissionWord | Literal["ANY"] = "ANY"

    def filter(self) -> AclFilter:
        matches = self.pattern_type == "MATCH"
        return AclFilter(
            _member_or_any(ResourceType, self.resource_type),
            self.resource_name,
            None if matches else _member_or_any(PatternType, self.pattern_type),
            self.principal,
            self.host,
            _member_or_any(Operation, self.operation),
            _member_or_any(Permission, self.permission),
            matches,
        )


class TestAcl(RequestModel):
    """A question: may this principal do that?"""

    principal: str = Field(pattern="^[^:]+:.+$")
    host: str = WILDCARD
    operation: OperationWord
    resource_type: ResourceWord
    resource_name: str

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra=example(
            principal="User:alice",
            operation="WRITE",
            resource_type="TOPIC",
            resource_name="orders",
        ),
    )


class AclDecision(TypedDict):
    allowed: bool
    reason: str
    #: The one that decides; null: none does.
    acl: AclBody | None


def acl_body(binding: AclBinding, at: Urls) -> dict[str, Any]:
    values = {
        name: as_constant(value.value) if isinstance(value, Enum) else value
        for name, value in binding._asdict().items()
    }
    url = f"{at.cluster}/acls?{urlencode(values)}"
    return {"kind": "KafkaAcl", "metadata": {"self": url}, "cluster_id": at.cluster_id, **values}


def _member(kind: type[E], word: str) -> E:
    return next(one for one in kind if as_constant(one.value) == word)


def _member_or_any(kind: type[E], word: str) -> E | None:
    return None if word == _ANY else _member(kind, word)


def asked(test: TestAcl) -> tuple[Operation, ResourceType]:
    return _member(Operation, test.operation), _member(ResourceType, test.resource_type)
