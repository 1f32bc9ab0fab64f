"""Where reading starts and ends, and which partitions are read."""

from __future__ import annotations

import pytest

from interfaces.spark.failures import JobFailed, WrongOption
from interfaces.spark.kafka.assignment import assignment_of
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.places import (
    EARLIEST,
    LATEST,
    OFFSETS,
    TIMES,
    check_order,
    end_of_batch,
    start_of_batch,
    start_of_stream,
)
from interfaces.spark.kafka.ranges import Place

T0, T1 = Place("t", 0), Place("t", 1)


def options(**given: str) -> KafkaOptions:
    return KafkaOptions({"kafka.bootstrap.servers": "b:1", **given})


def test_a_batch_is_everything_and_a_stream_what_comes() -> None:
    assert start_of_batch(options()).kind == EARLIEST
    assert end_of_batch(options()).kind == LATEST
    assert start_of_stream(options()).kind == LATEST


def test_one_time_wins_over_times_and_times_win_over_offsets() -> None:
    given = {
        "startingTimestamp": "5",
        "startingOffsetsByTimestamp": '{"t": {"0": 6}}',
        "startingOffsets": "latest",
    }
    assert start_of_stream(options(**given)).time_of(T1) == 5
    del given["startingTimestamp"]
    where = start_of_stream(options(**given))
    assert (where.kind, where.time_of(T0)) == (TIMES, 6)
    del given["startingOffsetsByTimestamp"]
    assert start_of_stream(options(**given)).kind == LATEST


def test_without_a_record_of_that_time_it_fails_or_starts_at_the_end() -> None:
    assert not start_of_batch(options(startingTimestamp="5")).or_latest
    given = options(startingTimestamp="5", startingOffsetsByTimestampStrategy="latest")
    assert start_of_batch(given).or_latest
    assert end_of_batch(options(endingTimestamp="5")).or_latest


def test_offsets_of_partitions_name_all_that_is_read_and_nothing_else() -> None:
    where = start_of_batch(options(startingOffsets='{"t": {"0": 23, "1": -2}}'))
    assert where.kind == OFFSETS
    where.check([T0, T1])
    with pytest.raises(WrongOption, match=r"^startingOffsets does not name t-2, which is read$"):
        where.check([T0, T1, Place("t", 2)])
    with pytest.raises(WrongOption, match=r"^startingOffsets names t-1, which is not read"):
        where.check([T0])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"startingOffsets": "latest"}, "latest, but reading a batch cannot start at the end"),
        ({"startingOffsets": '{"t": {"0": -1}}'}, r"-1 \(latest\) of t-0, but reading a batch"),
        ({"startingOffsets": '{"t": {"0": -3}}'}, "-3 of t-0 is no offset"),
        ({"startingOffsets": "first"}, "'first' is neither earliest nor latest nor JSON"),
        ({"startingOffsets": '{"t": {"0": }'}, "is no JSON"),
        ({"startingOffsets": '{"t": [1]}'}, "of topic 't' an object is expected"),
        ({"startingOffsets": '{"t": {"x": 1}}'}, "'x' of topic 't' is no partition"),
        ({"startingOffsets": '{"t": {"0": 1.5}}'}, "1.5 of t-0 is no whole number"),
        ({"startingTimestamp": "-1"}, "-1 is less than 0"),
        ({"startingOffsetsByTimestamp": '{"t": {"0": -1}}'}, "-1 of t-0 is less than 0"),
    ],
)
def test_wrong_starts_are_told(given: dict[str, str], says: str) -> None:
    with pytest.raises(WrongOption, match=rf"^{next(iter(given))}: .*{says}"):
        start_of_batch(options(**given))


def test_wrong_ends_are_told() -> None:
    with pytest.raises(WrongOption, match="cannot end at the start"):
        end_of_batch(options(endingOffsets="earliest"))
    with pytest.raises(WrongOption, match=r"-2 \(earliest\) of t-0, but .* cannot end"):
        end_of_batch(options(endingOffsets='{"t": {"0": -2}}'))
    with pytest.raises(WrongOption, match=r"^endingTimestamp: a stream has no end"):
        start_of_stream(options(endingTimestamp="5"))


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
        ({"subscribePattern": "a("}, "is no regular expression"),
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
    assert topics.among({"a": 1, "b": 2}, "s") == [Place("a", 0), Place("b", 0), Place("b", 1)]
    with pytest.raises(JobFailed, match=r"^there is no topic b at s$"):
        topics.among({"a": 1}, "s")
    assert topics.among({"a": 1}, "s", lenient=True) == [Place("a", 0)]
    places = assignment_of(options(assign='{"t": [0, 1]}'))
    with pytest.raises(JobFailed, match=r"^there is no partition t-1 at s$"):
        places.among({"t": 1}, "s")
    assert places.among({"t": 1}, "s", lenient=True) == [T0]


def test_a_start_that_was_named_is_not_after_the_end() -> None:
    check_order("startingOffsets", {T0: 5, T1: 0}, {T0: 5, T1: 9})
    with pytest.raises(WrongOption, match=r"^startingOffsets: t-1 starts at 10, after its end, 9$"):
        check_order("startingOffsets", {T0: 5, T1: 10}, {T0: 5, T1: 9})
