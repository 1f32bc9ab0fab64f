from __future__ import annotations

import pytest

from domain.errors import InvalidRequest, UnsupportedVersion
from domain.quotas import check_quota_filter

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
Component = tuple[str, int, str | None]


@pytest.mark.parametrize(
    "components",
    [
        [],
        [("user", EXACT, "alice"), ("client-id", SPECIFIED, None)],
        [("user", DEFAULT, None)],
        [("ip", EXACT, "127.0.0.1")],
    ],
)
def test_a_filter_names_each_type_once_and_a_name_where_it_is_exact(
    components: list[Component],
) -> None:
    check_quota_filter(components)


@pytest.mark.parametrize(
    ("components", "error", "why"),
    [
        ([("", EXACT, "a")], InvalidRequest, "empty entity type"),
        ([("planet", EXACT, "a")], UnsupportedVersion, "entity type planet"),
        ([("user", EXACT, "a"), ("user", EXACT, "b")], InvalidRequest, "more than once"),
        ([("user", 3, None)], InvalidRequest, "Unknown match type 3"),
        ([("user", EXACT, None)], InvalidRequest, "match string to null"),
        ([("user", DEFAULT, "a")], InvalidRequest, "MATCH_TYPE_DEFAULT, but also"),
        ([("user", SPECIFIED, "a")], InvalidRequest, "MATCH_TYPE_SPECIFIED, but also"),
        ([("ip", DEFAULT, None), ("user", DEFAULT, None)], InvalidRequest, "combination"),
    ],
)
def test_any_other_filter_is_refused_with_the_reason(
    components: list[Component], error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        check_quota_filter(components)
