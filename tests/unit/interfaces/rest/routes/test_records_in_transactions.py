"""Transactions in the records that REST shows and produces."""

from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin
from tests.fakes.batches import record_batch
from tests.fakes.transactions import append_in_transaction, end_transaction


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_records_show_their_transactions_and_the_markers_when_asked_to(
    admin: FakeAdmin, order: str
) -> None:
    fake = admin.fake
    fake.topic("t")
    fake.appended(record_batch(["plain"]))
    for producer_id in (7, 8, 9):
        append_in_transaction(fake, producer_id)
    fake.run()
    for producer_id, committed in ((7, True), (8, False)):
        end_transaction(fake, producer_id, committed)
    fake.run()
    append_in_transaction(fake, 8, sequence=1)
    fake.run()

    plain = admin.get(f"/topics/t/records?order={order}").json["data"]
    assert len(plain) == 5
    assert all("transaction" not in one and "producer_id" not in one for one in plain)
    shown = admin.get(f"/topics/t/records?order={order}&transactions=true").json["data"]
    if order == "newest":
        shown.reverse()
    assert [(one["offset"], one["producer_id"], one["transaction"]) for one in shown] == [
        (0, -1, None),
        (1, 7, "committed"),
        (2, 8, "aborted"),
        (3, 9, "open"),
        (4, 7, "commit_marker"),
        (5, 8, "abort_marker"),
        (6, 8, "open"),
    ]


def test_a_batch_in_a_transaction_is_committed_or_refused_as_a_whole(admin: FakeAdmin) -> None:
    admin.fake.topic("t", 2)
    address = "/topics/t/records:batch"
    good = {"id": "1", "value": "a", "partition_id": 0}
    bad = {"id": "2", "value": "b", "partition_id": 7}
    refused = admin.post(address, {"transaction": {}, "entries": [good, bad]})
    assert (refused.status, refused.json["error_code"]) == (404, 40403)
    malformed = admin.post(address, {"transaction": {}, "entries": [good, {"id": "2", "x": 1}]})
    assert malformed.status == 422
    for transaction in (True, {"id": "x"}, {"transactional_id": 5}, {"transactional_id": ""}):
        wrong = admin.post(address, {"transaction": transaction, "entries": [good]})
        assert (wrong.status, wrong.json["error_code"]) == (422, 42206)
    assert admin.get("/topics/t/records").json["data"] == []

    other = {"id": "2", "value": "b", "partition_id": 1}
    body = {"transaction": {"transactional_id": "tx"}, "entries": [good, other]}
    sent = admin.post(address, body)
    assert sent.status == 207
    assert [(one["id"], one["partition_id"]) for one in sent.json["successes"]] == [
        ("1", 0),
        ("2", 1),
    ]
    assert sent.json["transaction"] == {"transactional_id": "tx"}
    shown = admin.get("/topics/t/records?transactions=true&order=oldest").json["data"]
    states = sorted(one["transaction"] for one in shown)
    assert states == ["commit_marker", "commit_marker", "committed", "committed"]
    made_up = admin.post(address, {"transaction": {}, "entries": [good]}).json["transaction"]
    assert made_up["transactional_id"].startswith("rest-")
