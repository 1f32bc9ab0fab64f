"""Features of the cluster (KIP-584), and the rules for changes of their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from domain.errors import InvalidUpdateVersion

TRANSACTION_VERSION = "transaction.version"
#: The supported levels of each, lowest and highest. `group.version` 1: the broker has consumer
#: groups of KIP-848. `transaction.version` 2: clients end transactions as in KIP-890.
FEATURES = {"group.version": (1, 1), TRANSACTION_VERSION: (0, 2)}
DEFAULT_LEVELS: Mapping[str, int] = {name: highest for name, (_, highest) in FEATURES.items()}
#: Where brokers share a store: in `transaction.version` 2 a batch adds its partition to the
#: transaction, which only the coordinator can do.
SHARED_FEATURES = {**FEATURES, TRANSACTION_VERSION: (0, 1)}
Supported = Mapping[str, tuple[int, int]]

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
UPGRADE_TYPES = (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)


class FinalizedFeatures(NamedTuple):
    #: Rises with each change.
    epoch: int
    levels: Mapping[str, int]


def lowered_to(supported: Supported, finalized: FinalizedFeatures) -> FinalizedFeatures:
    """No level above the supported one. Clients take other levels with a later epoch only."""
    levels = {name: min(level, supported[name][1]) for name, level in finalized.levels.items()}
    return FinalizedFeatures(finalized.epoch + 1, levels)


def check_feature_update(
    levels: Mapping[str, int],
    feature: str,
    level: int,
    upgrade_type: int,
    node_id: int,
    all_supported: Supported = FEATURES,
) -> None:
    """Raises unless the feature may change from its level in `levels` to this one."""
    supported = all_supported.get(feature)
    if upgrade_type not in UPGRADE_TYPES:
        reason = "The controller does not support the given upgrade type."
    elif level < 0:
        reason = "A feature version cannot be less than 0."
    elif supported is None:
        reason = f"Local controller {node_id} does not support this feature."
    elif not supported[0] <= level <= supported[1]:
        lowest, highest = supported
        versions = f"version {lowest}" if lowest == highest else f"versions {lowest}-{highest}"
        reason = f"Local controller {node_id} only supports {versions}"
    elif level < levels[feature] and upgrade_type == UPGRADE:
        reason = (
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade."
        )
    elif level > levels[feature] and upgrade_type != UPGRADE:
        reason = "Can't downgrade to a newer version."
    else:
        return
    raise InvalidUpdateVersion(
        "The update failed for all features since the following feature had an error: "
        f"Invalid update version {level} for feature {feature}. {reason}"
    )
