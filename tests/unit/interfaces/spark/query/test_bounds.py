"""Where reading starts and ends."""

from __future__ import annotations

import pytest

from interfaces.spark.query.bounds import (
    EARLIEST,
    LATEST,
    Where,
    end_of_batch,
    start_of_batch,
    start_of_stream,
)
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.options import READ_OPTIONS, Options
from interfaces.spark.query.ranges import Place

T0, T1 = Place("t", 0), Place("t", 1)


def options(**given: str) -> Options:
    return Options(given, READ_OPTIONS)


def test_a_batch_is_everything_and_a_stream_what_comes() -> None:
    assert start_of_batch(options()) == Where("startingOffsets", EARLIEST)
    assert end_of_batch(options()) == Where("endingOffsets", LATEST)
    assert start_of_stream(options()).of(T0) == LATEST


def test_one_time_wins_over_times_and_times_win_over_offsets() -> None:
    given = {
        "startingTimestamp": "5",
        "startingOffsetsByTimestamp": '{"t": {"0": 6}}',
        "startingOffsets": "latest",
    }
    assert start_of_stream(options(**given)).of(T1) == 5
    del given["startingTimestamp"]
    where = start_of_stream(options(**given))
    assert (where.are_times, where.of(T0)) == (True, 6)
    del given["startingOffsetsByTimestamp"]
    where = start_of_stream(options(**given))
    assert (where.are_times, where.of(T0)) == (False, LATEST)


def test_without_a_record_of_that_time_it_fails_or_starts_at_the_end() -> None:
    assert not start_of_batch(options(startingTimestamp="5")).or_latest
    given = options(startingTimestamp="5", startingOffsetsByTimestampStrategy="latest")
    assert start_of_batch(given).or_latest
    assert end_of_batch(options(endingTimestamp="5")).or_latest


def test_offsets_of_partitions_name_all_that_is_read_and_nothing_else() -> None:
    where = start_of_batch(options(startingOffsets='{"t": {"0": 23, "1": -2}}'))
    assert (where.of(T0), where.of(T1)) == (23, EARLIEST)
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


def test_a_start_that_was_named_is_not_after_the_end() -> None:
    named = start_of_batch(options(startingOffsets='{"t": {"0": 5, "1": 10}}'))
    end = end_of_batch(options())
    named.check_order(end, {T0: 5, T1: 0}, {T0: 5, T1: 9})
    with pytest.raises(WrongOption, match=r"^startingOffsets: t-1 starts at 10, after its end, 9$"):
        named.check_order(end, {T0: 5, T1: 10}, {T0: 5, T1: 9})
    start_of_batch(options()).check_order(end, {T0: 6}, {T0: 5})


def test_a_start_is_not_after_an_end_that_was_named_either() -> None:
    start = start_of_batch(options(startingTimestamp="9000"))
    end = end_of_batch(options(endingTimestamp="5000"))
    start.check_order(end, {T0: 2}, {T0: 2})
    with pytest.raises(WrongOption, match=r"^startingTimestamp: t-0 .* 4, .*, 2 \(endingTimest"):
        start.check_order(end, {T0: 4}, {T0: 2})
    end = end_of_batch(options(endingOffsets='{"t": {"0": 3}}'))
    with pytest.raises(WrongOption, match=r"t-0 starts at 4, after its end, 3 \(endingOffsets\)$"):
        start_of_batch(options()).check_order(end, {T0: 4}, {T0: 3})
