"""What may be said to `ottla-segments`, and the line for what may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.spark.failures import WrongOption
from interfaces.spark.segments.options import EARLIEST, LATEST, OFFSET, TIME, Bound, SegmentsOptions


def options(**given: str) -> SegmentsOptions:
    return SegmentsOptions({"path": "/data", **given})


def test_a_path_is_a_folder_or_its_url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for path in ("/data", "lmdb:///data", "file:///data", "file:/data"):
        assert SegmentsOptions({"path": path}).url == "lmdb:///data"
    monkeypatch.chdir(tmp_path)
    assert SegmentsOptions({"PATH": "data"}).url == f"lmdb://{tmp_path}/data"


def test_without_a_word_everything_is_read() -> None:
    plain = options()
    assert plain.choice == (None, None, None)
    assert plain.starting.of("any", 7) == Bound(EARLIEST)
    assert plain.ending.of("any", 7) == Bound(LATEST)
    assert (plain.min_partitions, plain.max_records) == (None, None)
    assert plain.fail_on_data_loss
    assert not plain.include_headers
    assert not plain.include_batches


def test_topics_are_chosen_as_in_sparks_connector() -> None:
    assert options(subscribe="a, b,a").choice.names == ("a", "b")
    assert options(topic="a").choice.names == ("a",)
    pattern = options(subscribePattern="log.*").choice.pattern
    assert pattern is not None
    assert pattern.pattern == "log.*"
    assert options(assign='{"a": [1, 0, 1]}').choice.partitions == {"a": (0, 1)}


def test_of_times_and_offsets_the_time_for_all_comes_first() -> None:
    given = {
        "startingOffsets": '{"a": {"0": 5, "1": -2}}',
        "startingOffsetsByTimestamp": '{"a": {"0": 1000}}',
        "startingTimestamp": "2000",
    }
    assert options(**given).starting.of("a", 0) == Bound(TIME, 2000)
    del given["startingTimestamp"]
    assert options(**given).starting.of("a", 0) == Bound(TIME, 1000)
    del given["startingOffsetsByTimestamp"]
    assert options(**given).starting.of("a", 0) == Bound(OFFSET, 5)
    assert options(**given).starting.of("a", 1) == Bound(EARLIEST)
    assert options(endingOffsets='{"a": {"0": -1}}').ending.of("a", 0) == Bound(LATEST)


def test_json_names_exactly_what_is_read() -> None:
    starting = options(startingOffsets='{"a": {"0": 5}}').starting
    starting.check([("a", 0)])
    with pytest.raises(WrongOption, match=r"^startingOffsets does not name a-1, which is read$"):
        starting.check([("a", 0), ("a", 1)])
    with pytest.raises(WrongOption, match=r"^startingOffsets names a-0, which is not read or not"):
        starting.check([])


def test_options_of_a_broker_are_passed_over() -> None:
    given = {"kafka.bootstrap.servers": "nowhere:1", "groupIdPrefix": "x"}
    assert options(**given).choice == (None, None, None)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"path": " "}, "which data folder? .load(FOLDER), or .option('path', FOLDER)"),
        ({"path": "s3://bucket"}, "'s3://bucket' is no data folder of this machine"),
        ({"subscrib": "a"}, "ottla-segments has no option 'subscrib'; did you mean subscribe?"),
        ({"zzz": "a"}, "ottla-segments has no option 'zzz'"),
        ({"subscribe": "a", "assign": "{}"}, "subscribe and assign exclude each other"),
        ({"subscribe": " , "}, "subscribe names no topic"),
        ({"subscribePattern": "("}, "subscribePattern '(' is no pattern: "),
        ({"assign": "a"}, "assign is not JSON: 'a'"),
        ({"assign": '{"a": [true]}'}, 'assign is like {"topic": [0, 1]}, not '),
        ({"assign": "{}"}, 'assign is like {"topic": [0, 1]}, not '),
        ({"startingOffsets": "latest"}, "startingOffsets can not be latest: nothing would be"),
        ({"endingOffsets": "earliest"}, "endingOffsets can not be earliest: nothing would be"),
        ({"startingOffsets": '{"a": {"0": -1}}'}, "startingOffsets can not be -1 for a-0"),
        ({"endingOffsets": '{"a": {"0": -2}}'}, "endingOffsets can not be -2 for a-0"),
        ({"startingOffsets": '{"a": {"x": 1}}'}, 'startingOffsets is like {"topic": {"0": 23}}'),
        ({"startingOffsets": '{"a": {"0": 1.5}}'}, 'startingOffsets is like {"topic": {"0": 23}}'),
        ({"startingOffsets": "[]"}, 'startingOffsets is like {"topic": {"0": 23}}'),
        ({"startingTimestamp": "now"}, "startingTimestamp is a time in milliseconds since 1970"),
        ({"endingOffsetsByTimestamp": '{"a": {"0": -5}}'}, "endingOffsetsByTimestamp has a time"),
        (
            {"startingOffsetsByTimestampStrategy": "x"},
            "startingOffsetsByTimestampStrategy is error",
        ),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss is true or false, not 'maybe'"),
        ({"minPartitions": "0"}, "minPartitions is a number from 1 on, not '0'"),
        ({"maxRecordsPerPartition": "-1"}, "maxRecordsPerPartition is a number from 1 on"),
    ],
)
def test_what_is_said_wrongly_is_one_line(given: dict[str, str], line: str) -> None:
    with pytest.raises(WrongOption) as wrong:
        options(**given)
    assert str(wrong.value).startswith(line)
    assert "\n" not in str(wrong.value)
