"""Options of `ottla-segments`; their errors are in test_option_errors.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.spark.query.assignment import Assignment
from interfaces.spark.query.bounds import EARLIEST, LATEST
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


def test_without_options_everything_is_read() -> None:
    plain = options()
    assert plain.assignment is None
    assert (plain.starting.of(A0), plain.ending.of(A0)) == (EARLIEST, LATEST)
    assert plain.for_tasks == (None, None)
    assert plain.fail_on_data_loss
    assert not plain.include_headers
    assert not plain.include_batches


def test_topics_are_selected_by_options_of_sparks_connector() -> None:
    assert options(subscribe="a, b,a").assignment == Assignment(("a", "b"))
    assert options(topic="a").assignment == Assignment(("a",))
    assert options(subscribePattern="log.*").assignment == Assignment(pattern="log.*")


def test_options_of_a_broker_and_of_streams_are_ignored() -> None:
    given = {"kafka.bootstrap.servers": "nowhere:1", "groupIdPrefix": "x"}
    given |= {"maxOffsetsPerTrigger": "5", "fetchOffset.numRetries": "3"}
    assert options(**given).assignment is None
