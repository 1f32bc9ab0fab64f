"""Starting and ending offsets."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from interfaces.spark.query.bounds import (
    EARLIEST,
    LATEST,
    Bound,
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


def test_a_batch_starts_at_earliest_and_a_stream_at_latest() -> None:
    assert start_of_batch(options()) == Bound("startingOffsets", EARLIEST)
    assert end_of_batch(options()) == Bound("endingOffsets", LATEST)
    assert start_of_stream(options()).of(T0) == LATEST


def test_one_timestamp_wins_over_timestamps_and_these_over_offsets() -> None:
    given = {
        "startingTimestamp": "5",
        "startingOffsetsByTimestamp": '{"t": {"0": 6}}',
        "startingOffsets": "latest",
    }
    assert start_of_stream(options(**given)).of(T1) == 5
    del given["startingTimestamp"]
    bound = start_of_stream(options(**given))
    assert (bound.are_times, bound.of(T0)) == (True, 6)
    del given["startingOffsetsByTimestamp"]
    bound = start_of_stream(options(**given))
    assert (bound.are_times, bound.of(T0)) == (False, LATEST)


def test_without_a_record_of_that_timestamp_it_fails_or_starts_at_the_end() -> None:
    assert not start_of_batch(options(startingTimestamp="5")).or_latest
    given = options(startingTimestamp="5", startingOffsetsByTimestampStrategy="latest")
    assert start_of_batch(given).or_latest
    assert end_of_batch(options(endingTimestamp="5")).or_latest


def test_offsets_name_exactly_the_partitions_that_are_read() -> None:
    bound = start_of_batch(options(startingOffsets='{"t": {"0": 23, "1": -2}}'))
    assert (bound.of(T0), bound.of(T1)) == (23, EARLIEST)
    bound.check([T0, T1])
    with pytest.raises(WrongOption, match=r"^startingOffsets does not name t-2, which is read$"):
        bound.check([T0, T1, Place("t", 2)])
    with pytest.raises(WrongOption, match=r"^startingOffsets names t-1, which is not read"):
        bound.check([T0])


@pytest.mark.parametrize(
    ("starting", "ending", "start", "end", "failure"),
    [
        ({"startingOffsets": '{"t": {"0": 5}}'}, {}, 5, 5, None),
        ({"startingOffsets": '{"t": {"0": 10}}'}, {}, 10, 9, "startingOffsets: t-0 .* 10, .* 9$"),
        ({}, {}, 6, 5, None),  # the log was truncated meanwhile
        ({"startingTimestamp": "9"}, {"endingTimestamp": "5"}, 2, 2, None),
        ({"startingTimestamp": "9"}, {"endingTimestamp": "5"}, 4, 2, r"4, .* 2 \(endingTimesta"),
        ({}, {"endingOffsets": '{"t": {"0": 3}}'}, 4, 3, r"4, .* 3 \(endingOffsets\)$"),
    ],
)
def test_a_start_after_the_end_is_refused(
    starting: dict[str, str], ending: dict[str, str], start: int, end: int, failure: str | None
) -> None:
    bounds = start_of_batch(options(**starting)), end_of_batch(options(**ending))
    with pytest.raises(WrongOption, match=failure) if failure else nullcontext():
        bounds[0].check_order(bounds[1], {T0: start}, {T0: end})
