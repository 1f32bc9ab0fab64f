"""Which partitions are read."""

from __future__ import annotations

import pytest

from interfaces.spark.query.assignment import WAYS, assignment_in, assignment_of
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.options import READ_OPTIONS, Options
from interfaces.spark.query.ranges import Place

T0, T1 = Place("t", 0), Place("t", 1)


def options(**given: str) -> Options:
    return Options(given, (*READ_OPTIONS, "topic"))


def test_exactly_one_option_says_what_is_read() -> None:
    assert assignment_of(options(subscribe=" a, b,a")).topics == ("a", "b")
    assert assignment_of(options(assign='{"t": [1, 0, 1]}')).places == (T0, T1)
    with pytest.raises(WrongOption, match=r"^one of the options subscribe, .* must say"):
        assignment_of(options())
    with pytest.raises(WrongOption, match=r"^subscribe and assign exclude each other"):
        assignment_of(options(subscribe="t", assign='{"t": [0]}'))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"subscribe": " , "}, "names no topic"),
        ({"subscribePattern": "a("}, "cannot be used: missing"),
        ({"subscribePattern": "[t&&[^x]].*"}, "cannot be used: && in a set is Java's alone"),
        ({"assign": "t"}, "is no JSON"),
        ({"assign": "{}"}, "names no partition"),
        ({"assign": '{"t": 0}'}, "a list is expected"),
        ({"assign": '{"t": [-1]}'}, "-1 of topic 't' is no partition"),
        ({"assign": '{"t": [true]}'}, "True of topic 't' is no partition"),
    ],
)
def test_wrong_assignments_are_told(given: dict[str, str], says: str) -> None:
    with pytest.raises(WrongOption, match=rf"^{next(iter(given))}.*{says}"):
        assignment_of(options(**given))


def test_a_pattern_means_whole_names_and_no_topic_of_the_broker_itself() -> None:
    pattern = assignment_of(options(subscribePattern=".*s"))
    assert pattern.matches("orders")
    assert not pattern.matches("orders-dead")
    assert not pattern.matches("__consumer_offsets")


def test_what_is_not_there_is_told_or_passed_over() -> None:
    topics = assignment_of(options(subscribe="a,b"))
    assert topics.among({"a": 1, "b": 2}, "at s") == [Place("a", 0), Place("b", 0), Place("b", 1)]
    with pytest.raises(JobFailed, match=r"^there is no topic b at s$"):
        topics.among({"a": 1}, "at s")
    assert topics.among({"a": 1}, "at s", lenient=True) == [Place("a", 0)]
    places = assignment_of(options(assign='{"t": [0, 1]}'))
    with pytest.raises(JobFailed, match=r"^there is no partition t-1 at s$"):
        places.among({"t": 1}, "at s")
    with pytest.raises(JobFailed, match=r"^there is no topic t at s$"):
        places.among({"u": 1}, "at s")
    assert places.among({"t": 1}, "at s", lenient=True) == [T0]


def test_of_topics_that_nobody_named_nothing_is_read() -> None:
    pattern = assignment_of(options(subscribePattern="a.*"))
    assert pattern.among({"ab": 1, "b": 2}, "at s") == [Place("ab", 0)]


def test_whoever_need_not_say_what_is_read_may_have_more_ways_to_say_it() -> None:
    ways = (*WAYS, "topic")
    assert assignment_in(options(), ways) is None
    found = assignment_in(options(topic="a,b"), ways)
    assert found is not None
    assert found.topics == ("a", "b")
    with pytest.raises(WrongOption, match=r"^subscribe and topic exclude each other"):
        assignment_in(options(subscribe="a", topic="a"), ways)


def test_what_is_gone_is_told_from_what_is_left_out() -> None:
    some = assignment_of(options(subscribe="a"))
    assert some.gone(Place("a", 3)) == "a-3 is not there any more"
    assert some.gone(Place("b", 0)) == "b-0 is not among what is read any more"
    one = assignment_of(options(assign='{"t": [0]}'))
    assert one.gone(T0) == "t-0 is not there any more"
    assert one.gone(T1) == "t-1 is not among what is read any more"
