"""The comparison and its table can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle.compare import MISSING, Found, compare
from tests.oracle.difference import Difference, Words, unexpected, untrue
from tests.oracle.teller import Told

ROW = Difference("fetch", "4-5", ("a story: begin",), "topics[].error_code", 3, 0, "so it is")
FOUND = [
    (
        "fetch/a story",
        Found("begin", version, "topics[].error_code", "topics[<a>].error_code", 3, 0),
    )
    for version in (4, 5)
]


def expected(row: Difference) -> bool:
    return not unexpected([row], "fetch/a story", [one for _, one in FOUND])


def test_a_row_that_says_what_is_so_is_true() -> None:
    assert expected(ROW)
    assert untrue([ROW], FOUND) == []


@pytest.mark.parametrize(
    "row",
    [
        replace(ROW, versions="4"),
        replace(ROW, at=("a story: end",)),
        replace(ROW, api="produce"),
        replace(ROW, field="topics[].name"),
        replace(ROW, ours=1),
        replace(ROW, ours=False),
        replace(ROW, kafka=Words("any"), pinned=(("topics[].error_code", 4, 0),)),
    ],
)
def test_what_no_row_names_is_unexpected(row: Difference) -> None:
    assert not expected(row)


@pytest.mark.parametrize(
    "row",
    [
        replace(ROW, versions="4-6"),
        replace(ROW, at=("a story: begin", "a story: end")),
        replace(ROW, kafka=MISSING),
    ],
)
def test_a_row_that_claims_more_than_there_is_is_untrue(row: Difference) -> None:
    assert untrue([row], FOUND)


def test_fields_are_compared_by_what_tells_elements_apart() -> None:
    kafka = {"topics": [{"name": "a", "error_code": 3}, {"name": "b"}]}
    ours = {"topics": [{"name": "b", "error_code": 1}, {"name": "c"}]}
    found = compare([Told("x", None, kafka)], [Told("x", None, ours)], 7)
    assert [(one.where, one.kafka, one.ours) for one in found] == [
        ("topics[a]", {"name": "a", "error_code": 3}, MISSING),
        ("topics[b].error_code", 0, 1),
        ("topics[c]", MISSING, {"name": "c"}),
    ]


def test_other_requests_are_not_compared() -> None:
    with pytest.raises(AssertionError, match="record it anew"):
        compare([Told("x", {"acks": 1}, "")], [Told("x", {"acks": 0}, "")], 7)
