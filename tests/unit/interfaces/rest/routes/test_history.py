from __future__ import annotations

from application.metrics.history import INTERVAL_MS
from tests.fakes.admin import FakeAdmin
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeKafka
from tests.fakes.offset_requests import at, commit


def test_the_last_hour_of_the_broker_a_topic_and_a_group() -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    admin = FakeAdmin(kafka)
    admin.history.start()
    kafka.appended(record_batch(["a"] * 50), "t", 0)
    commit(kafka.client(), "g", ("t", [at(0, 20)]))
    kafka.scheduler.advance(INTERVAL_MS)
    now_ms = kafka.clock.now_ms()
    kafka.scheduler.advance(500)
    [sample] = admin.get("/history").json["data"]
    assert sample["messages_in_per_sec"] == 5
    assert (sample["produce_p50_us"], sample["store_used_bytes"]) == (None, 4096)
    [sample] = admin.get("/topics/t/history").json["data"]
    assert set(sample) == {"at_ms", "messages_in_per_sec", "bytes_in_per_sec", "bytes_out_per_sec"}
    [sample] = admin.get("/groups/g/history").json["data"]
    assert (sample["at_ms"], sample["lag"]) == (now_ms, 30)
    assert admin.get("/topics/none/history").json["error_code"] == 40403
    assert admin.get("/groups/none/history").json["error_code"] == 40404
