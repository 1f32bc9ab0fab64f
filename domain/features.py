"""Features of the cluster (KIP-584). Their levels are fixed: none can be upgraded or disabled."""

from __future__ import annotations

from domain.errors import InvalidUpdateVersion

#: The only supported level of each, which is finalized. `group.version` 1: the broker has consumer
#: groups of KIP-848.
FEATURES = {"group.version": 1}
UPGRADE_TYPES = (1, 2, 3)


def check_feature_update(feature: str, level: int, upgrade_type: int, node_id: int) -> None:
    """Accepts the current level only; the type of the upgrade makes no difference then."""
    supported = FEATURES.get(feature)
    if upgrade_type not in UPGRADE_TYPES:
        reason = "The controller does not support the given upgrade type."
    elif level < 0:
        reason = "A feature version cannot be less than 0."
    elif supported is None:
        reason = f"Local controller {node_id} does not support this feature."
    elif level != supported:
        reason = f"Local controller {node_id} only supports version {supported}"
    else:
        return
    raise InvalidUpdateVersion(
        "The update failed for all features since the following feature had an error: "
        f"Invalid update version {level} for feature {feature}. {reason}"
    )
