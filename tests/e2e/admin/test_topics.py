"""A topic that REST makes is there for clients, and one that they make is there for REST."""

from __future__ import annotations

from tests.e2e.admin.conftest import AdminClient


def test_both_sides_see_the_same_topics(admin: AdminClient) -> None:
    made = admin.post("/topics", {"name": "by-rest", "partitions": 3})
    assert made.status == 201, made
    with admin.broker.connect() as client:
        assert client.usable_partitions("by-rest", 3) == 3
        assert client.create_topic("by-kafka", 2, {}) == 0
    names = {topic["topic_name"] for topic in admin.get("/topics").json["data"]}
    assert {"by-rest", "by-kafka"} <= names
    assert admin.ask("DELETE", "/topics/by-rest").status == 204
    assert admin.get("/topics/by-rest").json["error_code"] == 40403
