"""ConfigRepository over every engine."""

from __future__ import annotations

import pytest

from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.errors import StorageFailed
from infrastructure.storage.repositories.config_repository import StoredConfigRepository
from tests.contract.engines import OpenStore

BROKER = Resource(ResourceKind.BROKER, "1")
GROUP = Resource(ResourceKind.GROUP, "orders")


def test_saved_configs_are_loaded_after_the_commit(store: OpenStore) -> None:
    configs = StoredConfigRepository(store.state)
    configs.save(ALL_BROKERS, {"message.max.bytes": "1"})
    configs.save(BROKER, {"message.max.bytes": "2", "log.retention.ms": "3"})
    configs.save(GROUP, {"consumer.session.timeout.ms": "46000"})
    assert configs.load() == {}
    store.keep()

    assert configs.load() == {
        ALL_BROKERS: {"message.max.bytes": "1"},
        BROKER: {"message.max.bytes": "2", "log.retention.ms": "3"},
        GROUP: {"consumer.session.timeout.ms": "46000"},
    }


def test_saving_again_replaces_all_configs(store: OpenStore) -> None:
    configs = StoredConfigRepository(store.state)
    configs.save(BROKER, {"message.max.bytes": "2", "log.retention.ms": "3"})
    store.keep()
    configs.save(BROKER, {"message.max.bytes": "4"})
    store.keep()

    assert configs.load() == {BROKER: {"message.max.bytes": "4"}}


def test_a_resource_without_configs_has_no_row(store: OpenStore) -> None:
    configs = StoredConfigRepository(store.state)
    configs.save(GROUP, {"consumer.session.timeout.ms": "46000"})
    store.keep()
    configs.save(GROUP, {})
    store.keep()

    assert configs.load() == {}


def test_a_group_may_have_any_name(store: OpenStore) -> None:
    configs = StoredConfigRepository(store.state)
    names = ("a\0b", "größe", "g" * 600, "g" * 599 + "h", "\0")
    for name in names:
        configs.save(Resource(ResourceKind.GROUP, name), {"consumer.session.timeout.ms": name})
    store.keep()

    assert configs.load() == {
        Resource(ResourceKind.GROUP, name): {"consumer.session.timeout.ms": name} for name in names
    }


def test_configs_survive_a_restart(lasting_store: OpenStore) -> None:
    StoredConfigRepository(lasting_store.state).save(BROKER, {"message.max.bytes": "2"})
    lasting_store.keep()
    lasting_store.reopen()

    configs = StoredConfigRepository(lasting_store.state)
    assert configs.load() == {BROKER: {"message.max.bytes": "2"}}


def test_an_unknown_kind_of_resource_is_left_unchanged(store: OpenStore) -> None:
    store.state.put("configs", b"streams\0s", b"{}")
    configs = StoredConfigRepository(store.state)
    configs.save(GROUP, {"consumer.session.timeout.ms": "46000"})
    store.keep()

    assert configs.load() == {GROUP: {"consumer.session.timeout.ms": "46000"}}
    assert store.state.get("configs", b"streams\0s") == b"{}"


@pytest.mark.parametrize("row", [b"", b"\xff\xfe", b"[1]", b"[" * 100_000])
def test_a_damaged_row_is_reported(store: OpenStore, row: bytes) -> None:
    store.state.put("configs", b"group\0g", row)
    store.keep()
    with pytest.raises(StorageFailed):
        StoredConfigRepository(store.state).load()
