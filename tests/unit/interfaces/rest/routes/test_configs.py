from __future__ import annotations

from typing import Any

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.topic_table import TOPIC_CONFIGS
from tests.fakes.admin import FakeAdmin


@pytest.fixture
def admin(admin: FakeAdmin) -> FakeAdmin:
    admin.fake.topic("t")
    return admin


def value_of(admin: FakeAdmin, path: str) -> tuple[str | None, bool, str]:
    body = admin.get(path).json
    return body["value"], body["is_default"], body["source"]


def without_correlation_id(admin: FakeAdmin, path: str) -> dict[str, Any]:
    return {k: v for k, v in admin.get(path).json.items() if k != "correlation_id"}


def test_the_shape_is_confluents(admin: FakeAdmin) -> None:
    body = admin.get(f"{admin.v3}/topics/t/configs/retention.ms").json
    cluster = admin.fake.broker.cluster_id
    assert body == {
        "kind": "KafkaTopicConfig",
        "metadata": {
            "self": f"http://localhost:8082{admin.v3}/topics/t/configs/retention.ms",
            "resource_name": f"crn:///kafka={cluster}/topic=t/config=retention.ms",
        },
        "cluster_id": cluster,
        "topic_name": "t",
        "name": "retention.ms",
        "value": "604800000",
        "type": "LONG",
        "is_default": True,
        "is_read_only": False,
        "is_sensitive": False,
        "source": "DEFAULT_CONFIG",
        "effect": "yes",
        "synonyms": body["synonyms"],
    }
    listed = admin.get("/topics/t/configs").json
    assert listed["kind"] == "KafkaTopicConfigList"
    assert body in listed["data"]
    assert {config["name"] for config in listed["data"]} == set(TOPIC_CONFIGS)


@pytest.mark.parametrize(
    "path, name, value, source",
    [
        ("/topics/t/configs", "retention.ms", "1000", "DYNAMIC_TOPIC_CONFIG"),
        ("/brokers/1/configs", "message.max.bytes", "2000", "DYNAMIC_BROKER_CONFIG"),
        ("/broker-configs", "message.max.bytes", "3000", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
    ],
)
def test_a_config_is_set_and_reset(
    admin: FakeAdmin, path: str, name: str, value: str, source: str
) -> None:
    for prefix in ("", admin.v3):
        config = f"{prefix}{path}/{name}"
        before = without_correlation_id(admin, config)
        assert admin.request("PUT", config, {"value": value}).status == 204
        assert value_of(admin, config) == (value, False, source)
        assert admin.request("DELETE", config).status == 204
        assert without_correlation_id(admin, config) == before


def test_a_header_names_configs_without_effect(
    admin: FakeAdmin,
) -> None:
    data = [
        {"name": "file.delete.delay.ms", "value": "5"},
        {"name": "preallocate", "value": "true"},
        {"name": "max.message.bytes", "value": "50"},
    ]
    altered = admin.post("/topics/t/configs:alter", {"data": data, "validate_only": True})
    assert (altered.status, altered.headers["warning"]) == (
        204,
        '299 - "file.delete.delay.ms has no effect in this broker: there are no segment files", '
        '299 - "preallocate has no effect in this broker: there are no segment files"',
    )
    delay = "log.segment.delete.delay.ms"
    put = admin.request("PUT", f"/broker-configs/{delay}", {"value": "5"})
    reason = "no effect in this broker: there are no segment files"
    assert put.headers["warning"] == f'299 - "{delay} has {reason}"'
    retention = admin.request("PUT", "/topics/t/configs/retention.ms", {"value": "5"})
    assert (retention.status, "warning" in retention.headers) == (204, False)


def test_several_are_altered_together_or_not_at_all(admin: FakeAdmin) -> None:
    alter = "/topics/t/configs:alter"
    both = [
        {"name": "retention.ms", "value": "5"},
        {"name": "cleanup.policy", "value": "compact", "operation": "APPEND"},
    ]
    assert admin.post(alter, {"data": both, "validate_only": True}).status == 204
    assert admin.fake.existing("t").configs == {}
    assert admin.post(alter, {"data": both}).status == 204
    assert admin.fake.existing("t").configs == {
        "retention.ms": "5",
        "cleanup.policy": "delete,compact",
    }
    refused = admin.post(
        alter,
        {"data": [{"name": "retention.ms", "operation": "DELETE"}, {"name": "x", "value": "1"}]},
    )
    assert (refused.status, refused.json["error_code"]) == (400, 40002)
    assert admin.fake.existing("t").configs["retention.ms"] == "5"
    unset = {"name": "retention.ms", "operation": None, "value": "9"}
    assert admin.post(alter, {"data": [unset]}).status == 204
    assert admin.fake.existing("t").configs["retention.ms"] == "9"
    assert admin.post(alter, {"data": [{"name": "retention.ms", "value": None}]}).status == 204
    assert "retention.ms" not in admin.fake.existing("t").configs


def test_every_setting_is_listed_with_its_origin() -> None:
    admin = FakeAdmin(num_partitions="3")
    admin.request("PUT", "/broker-configs/message.max.bytes", {"value": "2000"})
    rows = {row["name"]: row for row in admin.get("/configs").json["data"]}
    assert rows.keys() == BrokerConfig.definitions.keys()
    assert rows["num.partitions"]["value"] == "3"
    assert rows["num.partitions"]["default"] == "1"
    assert rows["num.partitions"]["origin"] == "command line"
    assert rows["message.max.bytes"]["origin"] == "dynamic, all brokers"
    assert rows["node.id"]["origin"] == "default"
    assert all(row["documentation"] and row["allowed"] for row in rows.values())


def test_a_secret_is_not_shown() -> None:
    secret = FakeAdmin(offsets="postgresql://me:secret@host/db")
    for path in ("/configs", "/brokers/1/configs"):
        assert b"secret@" not in secret.get(path).body


def test_all_topic_configs_are_listed_for_forms(admin: FakeAdmin) -> None:
    rows = {row["name"]: row for row in admin.get("/configs/topics").json["data"]}
    assert rows.keys() == TOPIC_CONFIGS.keys()
    assert rows["retention.ms"]["default"] == "604800000"
    assert rows["retention.ms"]["unit"] == "ms"
