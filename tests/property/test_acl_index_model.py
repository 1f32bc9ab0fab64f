"""AclIndex against a slow, obvious matcher."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.security.access import Operation, ResourceType
from domain.security.acl import AclBinding, PatternType, Permission
from domain.security.authorization import AclIndex
from domain.security.principal import Principal

IMPLIED = {
    Operation.DESCRIBE: {"Describe", "Read", "Write", "Delete", "Alter"},
    Operation.DESCRIBE_CONFIGS: {"DescribeConfigs", "AlterConfigs"},
}
NAMES = st.text("ab", min_size=1, max_size=3)
TYPES = st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP])
OPERATIONS = st.sampled_from(
    [Operation.ALL, Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALTER_CONFIGS]
)
BINDINGS = st.builds(
    AclBinding,
    TYPES,
    NAMES | st.just("*"),
    st.sampled_from(PatternType),
    st.sampled_from(["User:a", "User:b", "User:*"]),
    st.sampled_from(["1.1.1.1", "2.2.2.2", "*"]),
    OPERATIONS,
    st.sampled_from(Permission),
)


def obviously_allowed(
    bindings: list[AclBinding],
    user: str,
    host: str,
    operation: Operation,
    resource_type: ResourceType,
    name: str,
    otherwise: bool,
) -> bool:
    covering = [
        one
        for one in bindings
        if one.resource_type is resource_type
        and (
            name.startswith(one.resource_name)
            if one.pattern_type is PatternType.PREFIXED
            else one.resource_name in ("*", name)
        )
    ]
    mine = [
        one
        for one in covering
        if one.principal in (f"User:{user}", "User:*") and one.host in ("*", host)
    ]
    exact = {"All", operation.value}
    if any(one.permission is Permission.DENY and one.operation.value in exact for one in mine):
        return False
    enough = exact | IMPLIED.get(operation, set())
    if any(one.permission is Permission.ALLOW and one.operation.value in enough for one in mine):
        return True
    return otherwise and not covering


@given(
    st.lists(BINDINGS, max_size=12),
    st.lists(st.integers(0, 11), max_size=4),
    st.booleans(),
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from(["1.1.1.1", "3.3.3.3"]),
            st.sampled_from(list(Operation)[1:10]),
            TYPES,
            NAMES,
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_the_index_decides_as_the_obvious_matcher(
    bindings: list[AclBinding],
    removed: list[int],
    otherwise: bool,
    questions: list[tuple[str, str, Operation, ResourceType, str]],
) -> None:
    index = AclIndex(allowed_without_acl=otherwise)
    index.add(bindings)
    left = list(dict.fromkeys(bindings))
    for place in removed:
        if place < len(bindings):
            index.remove(bindings[place])
            left = [one for one in left if one != bindings[place]]
    assert list(index) == left
    for user, host, operation, resource_type, name in questions:
        decided = index.allows(Principal("User", user), host, operation, resource_type, name)
        expected = obviously_allowed(left, user, host, operation, resource_type, name, otherwise)
        assert decided == expected


#: Of one user and type, where patterns matter.
RIVALS = st.builds(
    AclBinding,
    st.just(ResourceType.TOPIC),
    NAMES | st.just("*"),
    st.sampled_from(PatternType),
    st.just("User:a"),
    st.just("*"),
    st.just(Operation.WRITE),
    st.sampled_from(Permission),
)


@given(
    st.lists(BINDINGS, max_size=12) | st.lists(RIVALS, max_size=4),
    st.booleans(),
    st.sampled_from("ab"),
    st.sampled_from(["1.1.1.1", "3.3.3.3"]),
    TYPES,
)
def test_whether_any_resource_is_allowed_is_what_the_names_say(
    bindings: list[AclBinding], otherwise: bool, user: str, host: str, resource_type: ResourceType
) -> None:
    index = AclIndex(allowed_without_acl=otherwise)
    index.add(bindings)
    write = Operation.WRITE
    named = {one.resource_name for one in bindings}
    names = named | {f"{name}c" for name in named} | {"zz"}
    allowed = any(
        obviously_allowed(list(index), user, host, write, resource_type, name, otherwise)
        for name in names
    )
    assert index.allows_any(Principal("User", user), host, write, resource_type) == allowed
