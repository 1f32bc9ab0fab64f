"""The checker finds what is wrong with a history, and nothing wrong with a good one."""

from __future__ import annotations

import pytest

from tests.crash.cluster.history import (
    DIFFERENT,
    DOUBLED,
    EPOCH_FELL,
    GAP,
    LOST,
    NO_OFFSET,
    REORDERED,
    TWO_LEADERS,
    UNSENT,
    WENT_BACK,
    Batch,
    History,
    Log,
    Record,
    kinds,
)


def history(*acknowledged: str) -> History:
    one = History(["i"])
    for value in ("i:0", "i:1", "i:2", "p:0", "p:1"):
        one.sent(0, value)
    for offset, value in enumerate(acknowledged):
        one.acknowledged(0, offset, value)
    return one


def log(*values: str, epochs: tuple[int, ...] = ()) -> Log:
    records = [Record(offset, value) for offset, value in enumerate(values)]
    batches = [Batch(at, at, epoch) for at, epoch in enumerate(epochs or [0] * len(values))]
    return Log(len(values), records, batches)


def test_a_good_history_has_no_findings() -> None:
    good = history("i:0", "p:0", "i:1")
    good.seen(0, 1, "p:0")
    good.leads(0, 0, 1)
    good.leads(0, 1, 2)
    assert good.ends(0, 0, 2, good.newest_end(0))
    assert good.ends(0, 1, 3, good.newest_end(0))
    # A plain producer may double its records, also later; one without a response may be there.
    end = log("i:0", "p:0", "i:1", "p:1", "p:0", epochs=(0, 0, 1, 1, 2))
    assert good.findings({0: end}) == []


def test_a_record_without_an_offset_is_looked_for() -> None:
    one = history("i:0")
    one.acknowledged(0, -1, "i:1")
    assert one.findings({0: log("i:0", "i:1")}) == []
    assert kinds(one.findings({0: log("i:0")})) == {LOST}


def test_a_plain_producer_gets_an_offset_with_each_acknowledgement() -> None:
    one = history("i:0")
    one.acknowledged(0, -1, "p:0")
    assert kinds(one.findings({0: log("i:0", "p:0")})) == {NO_OFFSET}


@pytest.mark.parametrize(
    "end, kind",
    [
        (log("i:0"), LOST),
        (log("i:0", "p:0"), LOST),
        (log("i:0", "i:1", "i:1"), DOUBLED),
        (log("i:0", "i:2", "i:1"), REORDERED),
        (log("i:0", "i:1", "x:1"), UNSENT),
        (log("i:0", "i:1", epochs=(1, 0)), EPOCH_FELL),
        (Log(3, log("i:0", "i:1").records, [Batch(0, 0, 0), Batch(2, 2, 0)]), GAP),
    ],
)
def test_a_bad_log_is_found(end: Log, kind: str) -> None:
    assert kind in kinds(history("i:0", "i:1").findings({0: end}))


def test_a_record_may_be_sent_again_in_a_new_epoch_of_its_producer() -> None:
    records = log("i:0", "i:0").records
    for producers, kind in (
        (((1, 0, 0), (1, 1, 0)), set()),
        (((1, 0, 0), (1, 0, 1)), {DOUBLED}),
    ):
        one = history("i:0")
        batches = [Batch(at, at, 0, producer) for at, producer in enumerate(producers)]
        assert kinds(one.findings({0: Log(2, records, batches)})) == kind
        assert one.sent_again == (not kind)


def test_a_producer_with_one_request_at_a_time_sends_nothing_again() -> None:
    records = log("o:0", "o:0").records
    batches = [Batch(at, at, 0, (1, at, 0)) for at in range(2)]
    one = History(["o"], once=["o"])
    one.sent(0, "o:0")
    assert kinds(one.findings({0: Log(2, records, batches)})) == {DOUBLED}
    assert one.sent_again == 0


def test_readers_agree() -> None:
    one = history("i:0")
    one.seen(0, 0, "i:1")
    one.seen(0, 0, "i:0")
    assert kinds(one.findings({})) == {DIFFERENT}
    assert DIFFERENT in kinds(one.findings({0: log("i:0")}))


def test_an_offset_is_acknowledged_once() -> None:
    one = history("i:0")
    one.acknowledged(0, 0, "p:0")
    assert kinds(one.wrong) == {DIFFERENT}


def test_an_epoch_has_one_leader() -> None:
    one = history()
    one.leads(0, 3, 1)
    one.leads(0, 3, 2)
    assert kinds(one.wrong) == {TWO_LEADERS}


def test_high_watermarks_do_not_go_back() -> None:
    one = history()
    one.ends(0, 1, 10, (-1, -1))
    # A leader of the past, which does not know it yet.
    assert not one.ends(0, 0, 5, one.newest_end(0))
    assert one.wrong == []
    one.ends(0, 1, 9, one.newest_end(0))
    assert kinds(one.wrong) == {WENT_BACK}
