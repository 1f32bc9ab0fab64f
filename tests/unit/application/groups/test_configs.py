from __future__ import annotations

from application.groups.configs import GroupConfigs
from domain.configs.broker import BrokerConfig
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.repositories.config_repository import StoredConfigRepository
from tests.fakes.logs import FakeEventLog

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


def stored(*rows: tuple[Resource, dict[str, str]]) -> StoredConfigRepository:
    store = MemoryStore()
    repository = StoredConfigRepository(MemoryStateStore(store))
    for resource, configs in rows:
        repository.save(resource, configs)
    store.keep()
    return repository


def test_a_group_config_overrides_the_setting_of_the_broker() -> None:
    repository = stored(
        (Resource(ResourceKind.GROUP, "orders"), {SESSION: "50000"}),
        (ALL_BROKERS, {"message.max.bytes": "1000"}),
    )
    configs = GroupConfigs(repository, BrokerConfig(), FakeEventLog())
    assert configs.of("orders").consumer_session_timeout_ms == 50000
    assert configs.of("orders").consumer_heartbeat_interval_ms == 5000
    assert configs.of("others").consumer_session_timeout_ms == 45000
    assert configs.names() == ["orders"]


def test_a_config_can_be_altered_and_deleted() -> None:
    configs = GroupConfigs(stored(), BrokerConfig(), FakeEventLog())
    configs.put("orders", {HEARTBEAT: "7000"})
    assert configs.of("orders").consumer_heartbeat_interval_ms == 7000
    assert configs.overrides("orders") == {HEARTBEAT: "7000"}
    configs.put("orders", {})
    assert configs.of("orders").consumer_heartbeat_interval_ms == 5000
    assert configs.names() == []


def test_unusable_configs_of_another_version_are_ignored_and_logged() -> None:
    odd = {SESSION: "50000", HEARTBEAT: "soon", "share.session.timeout.ms": "5000"}
    events = FakeEventLog()
    configs = GroupConfigs(
        stored((Resource(ResourceKind.GROUP, "orders"), odd)), BrokerConfig(), events
    )
    assert configs.overrides("orders") == {SESSION: "50000"}
    assert configs.of("orders").consumer_heartbeat_interval_ms == 5000
    reasons = [line["error"] for line in events.of("config_unused")]
    assert len(reasons) == 2
    assert "Unknown group config name: share.session.timeout.ms" in reasons
