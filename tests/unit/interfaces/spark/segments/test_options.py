"""What may be said to `ottla-segments`, and the line for what may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.spark.query.assignment import Assignment
from interfaces.spark.query.bounds import EARLIEST, LATEST
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.ranges import Place
from interfaces.spark.segments.options import SegmentsOptions

A0 = Place("a", 0)


def options(**given: str) -> SegmentsOptions:
    return SegmentsOptions({"path": "/data", **given})


def test_a_path_is_a_folder_or_its_url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for path in ("/data", "lmdb:///data", "file:///data", "file:/data"):
        assert SegmentsOptions({"path": path}).url == "lmdb:///data"
    monkeypatch.chdir(tmp_path)
    assert SegmentsOptions({"PATH": "data"}).url == f"lmdb://{tmp_path}/data"


def test_without_a_word_everything_is_read() -> None:
    plain = options()
    assert plain.assignment is None
    assert (plain.starting.of(A0), plain.ending.of(A0)) == (EARLIEST, LATEST)
    assert plain.for_tasks == (None, None)
    assert plain.fail_on_data_loss
    assert not plain.include_headers
    assert not plain.include_batches


def test_topics_are_chosen_as_in_sparks_connector_and_as_its_sink_names_one() -> None:
    assert options(subscribe="a, b,a").assignment == Assignment(("a", "b"))
    assert options(topic="a").assignment == Assignment(("a",))
    assert options(subscribePattern="log.*").assignment == Assignment(pattern="log.*")


def test_options_of_a_broker_and_of_streams_are_passed_over() -> None:
    given = {"kafka.bootstrap.servers": "nowhere:1", "groupIdPrefix": "x"}
    given |= {"maxOffsetsPerTrigger": "5", "fetchOffset.numRetries": "3"}
    assert options(**given).assignment is None


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"path": " "}, "which data folder? .load(FOLDER), or .option('path', FOLDER)"),
        ({"path": "s3://bucket"}, "'s3://bucket' is no data folder of this machine"),
        ({"subscrib": "a"}, "there is no option 'subscrib'; did you mean subscribe?"),
        ({"commitOffsetsToGroup": "true"}, "there is no option 'commitoffsetstogroup'"),
        ({"subscribe": "a", "assign": "{}"}, "subscribe and assign exclude each other"),
        ({"startingOffsets": "latest"}, "startingOffsets: latest, but reading a batch cannot"),
        ({"endingOffsets": '{"a": {"0": -2}}'}, "endingOffsets: -2 (earliest) of a-0, but"),
        ({"startingTimestamp": "1²"}, "startingTimestamp: '1²' is no whole number"),
        ({"startingTimestamp": "9" * 30}, "startingTimestamp: '999"),
        ({"startingTimestamp": "9" * 19}, "startingTimestamp: 9999999999999999999 is more than 9"),
        ({"startingOffsets": '{"a": {"²": 3}}'}, "startingOffsets: '²' of topic 'a' is no part"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss: 'maybe' is neither true nor false"),
    ],
)
def test_what_is_said_wrongly_is_one_line(given: dict[str, str], line: str) -> None:
    with pytest.raises(WrongOption) as wrong:
        options(**given)
    assert str(wrong.value).startswith(line)
    assert "\n" not in str(wrong.value)


def test_a_folder_is_not_written() -> None:
    pytest.importorskip("pyspark", reason="needs Spark")
    from pyspark.sql.types import StructType

    from interfaces.spark.segments.sources import SegmentsSource

    source = SegmentsSource({"path": "/data"})
    for writes in (source.writer, source.streamWriter):
        with pytest.raises(WrongOption, match=r"^a data folder is only read: "):
            writes(StructType([]), False)
