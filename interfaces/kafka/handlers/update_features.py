"""UpdateFeatures (key 57), versions 0-2 (KIP-584).

1  type of the upgrade, validate only (KIP-778)        2  no results of single features

No level changes: the levels are fixed. One refused feature refuses the request.
"""

from __future__ import annotations

from domain.features import check_feature_update
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)


def handle(request: UpdateFeaturesRequest, call: Call) -> UpdateFeaturesResponse:
    updates = {one.feature: one for one in request.feature_updates}
    node_id = call.broker.placement.node_id
    for name, update in updates.items():
        check_feature_update(name, update.max_version_level, update.upgrade_type, node_id)
    # "NONE" as in Kafka, whose clients read the code only.
    results = [UpdatableFeatureResult(feature=name, error_message="NONE") for name in updates]
    return UpdateFeaturesResponse(error_message=None, results=results)
