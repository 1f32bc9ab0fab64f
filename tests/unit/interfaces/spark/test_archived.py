"""Counts records of an archive by the progress that Spark reports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from interfaces.spark.jobs.archive import Archived


def progress(batch: int, records: int | None, end: str = '{"t": {"0": 1, "1": 2}}') -> Any:
    return {
        "batchId": batch,
        "timestamp": "2026-11-22T09:01:34.000Z",
        "numInputRows": records or 0,
        "batchDuration": 500,
        "observedMetrics": {} if records is None else {"archived": {"records": records}},
        "sources": [{"endOffset": end}],
    }


def test_each_batch_counts_once_also_after_idle_progress_with_its_number() -> None:
    done = Archived()
    reported = [progress(0, 83), progress(1, None)]
    query = cast(Any, SimpleNamespace(recentProgress=reported))
    done.look(query)
    done.look(query)
    assert (done.records, done.count) == (83, 1)
    reported.append(progress(1, 7, '{"t": {"0": 5, "1": 2}, "new": {"0": 9}}'))
    reported.append(progress(2, None))
    done.look(query)
    done.look(query)
    assert (done.records, done.count) == (90, 2)
    assert [each["batch"] for each in done.batches] == [0, 1]
    assert done.partitions == {"t": 2, "new": 1}
