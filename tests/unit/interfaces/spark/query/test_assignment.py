"""The partitions that a query reads."""

from __future__ import annotations

import pytest

from interfaces.spark.query.assignment import WAYS, assignment_in, assignment_of
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.options import READ_OPTIONS, Options
from interfaces.spark.query.ranges import Place

T0, T1 = Place("t", 0), Place("t", 1)


def options(**given: str) -> Options:
    return Options(given, (*READ_OPTIONS, "topic"))


def test_exactly_one_option_selects_partitions() -> None:
    assert assignment_of(options(subscribe=" a, b,a")).topics == ("a", "b")
    assert assignment_of(options(assign='{"t": [1, 0, 1]}')).places == (T0, T1)
    with pytest.raises(WrongOption):
        assignment_of(options())
    with pytest.raises(WrongOption):
        assignment_of(options(subscribe="t", assign='{"t": [0]}'))


def test_a_pattern_matches_whole_names_and_no_internal_topics() -> None:
    pattern = assignment_of(options(subscribePattern=".*s"))
    assert pattern.matches("orders")
    assert not pattern.matches("orders-dead")
    assert not pattern.matches("__consumer_offsets")


def test_a_pattern_may_list_more_topics_than_the_broker_accepts_in_a_subscription() -> None:
    names = [f"{number:02}-orders-of-a-team" for number in range(60)]
    pattern = assignment_of(options(subscribePattern="|".join(names)))
    assert all(map(pattern.matches, names))
    assert not pattern.matches("60-orders-of-a-team")


def test_missing_topics_are_reported_or_skipped() -> None:
    topics = assignment_of(options(subscribe="a,b"))
    assert topics.among({"a": 1, "b": 2}, "at s") == [Place("a", 0), Place("b", 0), Place("b", 1)]
    with pytest.raises(JobFailed, match="b at s"):
        topics.among({"a": 1}, "at s")
    assert topics.among({"a": 1}, "at s", lenient=True) == [Place("a", 0)]
    places = assignment_of(options(assign='{"t": [0, 1]}'))
    with pytest.raises(JobFailed, match="t-1 at s"):
        places.among({"t": 1}, "at s")
    with pytest.raises(JobFailed, match="t at s"):
        places.among({"u": 1}, "at s")
    assert places.among({"t": 1}, "at s", lenient=True) == [T0]


def test_topics_that_do_not_match_are_not_read() -> None:
    pattern = assignment_of(options(subscribePattern="a.*"))
    assert pattern.among({"ab": 1, "b": 2}, "at s") == [Place("ab", 0)]


def test_other_options_may_select_topics_too() -> None:
    ways = (*WAYS, "topic")
    assert assignment_in(options(), ways) is None
    found = assignment_in(options(topic="a,b"), ways)
    assert found is not None
    assert found.topics == ("a", "b")
    with pytest.raises(WrongOption, match="subscribe and topic"):
        assignment_in(options(subscribe="a", topic="a"), ways)


def test_a_deleted_partition_differs_from_one_that_is_not_subscribed() -> None:
    for options_of, deleted, other in (
        (options(subscribe="a"), Place("a", 3), Place("b", 0)),
        (options(assign='{"t": [0]}'), T0, T1),
    ):
        assignment = assignment_of(options_of)
        assert assignment.gone(deleted).startswith(f"{deleted} is not there")
        assert assignment.gone(other).startswith(f"{other} is not subscribed")
