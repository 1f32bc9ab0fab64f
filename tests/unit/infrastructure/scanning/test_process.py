from __future__ import annotations

import fcntl
import socket

import pytest

from application.records.filter import RecordFilter
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from infrastructure.opening import open_storage
from infrastructure.scanning.process import Channel, run
from tests.fakes.batches import record_batch


@pytest.mark.parametrize("broker_is_there", [True, False])
def test_a_scan_without_results_ends_when_its_broker_is_gone(
    broker_is_there: bool,
) -> None:
    storage = open_storage("memory://", "os")
    storage.log.append(1, 0, record_batch(["miss"]))
    storage.commit.commit(lambda failure: None)
    plan = ScanPlan([OffsetRange(0, 1, 0, 1, 1)], RecordFilter(in_value=b"hit"))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = Channel(theirs)
        if broker_is_there:
            assert isinstance(run(plan, storage.log, channel), ScanEnd)
        else:
            ours.close()
            with pytest.raises(EOFError):
                run(plan, storage.log, channel)
    storage.commit.close()


def test_a_channel_may_have_a_large_descriptor() -> None:
    """A broker over files has a thousand of them open."""
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.socket(fileno=fcntl.fcntl(theirs, fcntl.F_DUPFD, 1024)) as large:
        Channel(large).check()
        ours.close()
        with pytest.raises(EOFError):
            Channel(large).check()
