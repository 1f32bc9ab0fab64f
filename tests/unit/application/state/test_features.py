from __future__ import annotations

import pytest

from application.ports.log_store import NotInMemory
from application.state.features import Features
from application.state.runtime import ignore
from domain.errors import InvalidUpdateVersion, StorageFailed
from domain.features import SAFE_DOWNGRADE, UPGRADE, check_feature_update
from tests.fakes.broker import FakeBroker
from tests.fakes.following_brokers import FollowingBrokers
from tests.fakes.shared_store import SharedStore


def features_of(fake: FakeBroker) -> Features:
    return fake.broker.features


def test_a_level_changes_with_its_commit_and_stays() -> None:
    fake = FakeBroker()
    features = features_of(fake)
    outcomes: list[StorageFailed | None] = []
    features.update({"transaction.version": 1}, outcomes.append)
    assert (features.transaction_version, outcomes) == (2, [])
    assert features.newest().levels["transaction.version"] == 1
    fake.run()
    assert (features.transaction_version, features.finalized.epoch, outcomes) == (1, 1, [None])
    assert features_of(fake.restarted()).finalized == features.finalized
    features.update({"transaction.version": 1}, outcomes.append)
    assert (features.finalized.epoch, outcomes) == (1, [None, None])


def test_a_lost_change_leaves_the_level() -> None:
    fake = FakeBroker()
    fake.commit.fail_next()
    outcomes: list[StorageFailed | None] = []
    features_of(fake).update({"transaction.version": 0}, outcomes.append)
    fake.run()
    assert features_of(fake).newest().levels["transaction.version"] == 2
    assert isinstance(outcomes[0], StorageFailed)


@pytest.mark.parametrize(
    ("level", "kind", "allowed"),
    [
        *((1, SAFE_DOWNGRADE, True), (0, SAFE_DOWNGRADE, True), (1, UPGRADE, False)),
        *((2, UPGRADE, True), (2, SAFE_DOWNGRADE, True), (3, UPGRADE, False)),
    ],
)
def test_a_lower_level_is_a_downgrade(level: int, kind: int, allowed: bool) -> None:
    levels = features_of(FakeBroker()).finalized.levels
    if allowed:
        check_feature_update(levels, "transaction.version", level, kind, 1)
        return
    with pytest.raises(InvalidUpdateVersion):
        check_feature_update(levels, "transaction.version", level, kind, 1)


def test_levels_that_another_broker_has_changed_are_followed() -> None:
    two = FollowingBrokers()
    features_of(two.first).update({"transaction.version": 1}, ignore)
    assert features_of(two.second).transaction_version == 2
    two.run()
    assert features_of(two.second).finalized == features_of(two.first).finalized
    features_of(two.second).update({"transaction.version": 0}, ignore)
    two.run()
    assert features_of(two.first).finalized.epoch == 2


def test_an_update_waits_for_the_right() -> None:
    fake = FakeBroker()
    fake.changes.withhold()
    with pytest.raises(NotInMemory):
        features_of(fake).update({"transaction.version": 1}, ignore)
    assert features_of(fake).newest().levels["transaction.version"] == 2


def test_where_brokers_share_a_store_transaction_version_is_at_most_1() -> None:
    """Levels have a later epoch each time: clients take no others."""
    shared = SharedStore()
    one, two = shared.start(1), shared.start(2)
    features, other = one.broker.features, two.broker.features
    assert (features.transaction_version, features.finalized.epoch) == (1, 1)
    with pytest.raises(InvalidUpdateVersion, match="versions 0-1"):
        check_feature_update(
            features.newest().levels, "transaction.version", 2, UPGRADE, 1, features.supported
        )
    features.update({"transaction.version": 0}, ignore)
    shared.run()
    assert features.finalized == other.finalized
    assert (other.transaction_version, other.finalized.epoch) == (0, 3)
