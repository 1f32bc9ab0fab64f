"""Tests of the comparison and of its table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle.access_differences import ACCESS_DIFFERENCES
from tests.oracle.compare import MISSING, Found, compare
from tests.oracle.conversation_differences import CONVERSATION_DIFFERENCES
from tests.oracle.difference import Difference, Words, unexpected, untrue
from tests.oracle.differences import DIFFERENCES
from tests.oracle.docs import PAGE
from tests.oracle.scenario_run import Exchange

ROW = Difference("fetch", "4-5", ("a scenario: begin",), "topics[].error_code", 3, 0, "a reason")
FOUND = [
    (
        "fetch/a scenario",
        Found("begin", version, "topics[].error_code", "topics[<a>].error_code", 3, 0),
    )
    for version in (4, 5)
]


def expected(row: Difference) -> bool:
    return not unexpected([row], "fetch/a scenario", [one for _, one in FOUND])


def test_a_row_that_matches_the_differences_is_valid() -> None:
    assert expected(ROW)
    assert untrue([ROW], FOUND) == []


@pytest.mark.parametrize(
    "row",
    [
        replace(ROW, versions="4"),
        replace(ROW, at=("a scenario: end",)),
        replace(ROW, api="produce"),
        replace(ROW, field="topics[].name"),
        replace(ROW, ours=1),
        replace(ROW, ours=False),
        replace(ROW, kafka=Words("any"), pinned=(("topics[].error_code", 4, 0),)),
    ],
)
def test_a_difference_without_a_row_is_unexpected(row: Difference) -> None:
    assert not expected(row)


@pytest.mark.parametrize(
    "row",
    [
        replace(ROW, versions="4-6"),
        replace(ROW, at=("a scenario: begin", "a scenario: end")),
        replace(ROW, kafka=MISSING),
    ],
)
def test_a_row_that_names_more_than_differs_is_invalid(row: Difference) -> None:
    assert untrue([row], FOUND)


def test_the_page_has_every_difference() -> None:
    page = PAGE.read_text("utf-8")
    rows = (*DIFFERENCES, *ACCESS_DIFFERENCES)
    assert [row for row in rows if row.reason.replace("|", "\\|") not in page] == []
    assert [row for row in CONVERSATION_DIFFERENCES if " | ".join(row[1:]) not in page] == []


def test_list_elements_are_compared_by_their_identity() -> None:
    kafka = {"topics": [{"name": "a", "error_code": 3}, {"name": "b"}]}
    ours = {"topics": [{"name": "b", "error_code": 1}, {"name": "c"}]}
    found = compare([Exchange("x", None, kafka)], [Exchange("x", None, ours)], 7)
    assert [(one.where, one.kafka, one.ours) for one in found] == [
        ("topics[a]", {"name": "a", "error_code": 3}, MISSING),
        ("topics[b].error_code", 0, 1),
        ("topics[c]", MISSING, {"name": "c"}),
    ]


def test_a_recording_of_other_requests_is_refused() -> None:
    with pytest.raises(AssertionError, match="record again"):
        compare([Exchange("x", {"acks": 1}, "")], [Exchange("x", {"acks": 0}, "")], 7)
