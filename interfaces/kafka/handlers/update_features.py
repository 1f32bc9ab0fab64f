"""UpdateFeatures (key 57), versions 0-2 (KIP-584).

1  type of the upgrade, validate only (KIP-778)        2  no results of single features

`transaction.version` can change; the level of `group.version` is fixed. One refused feature refuses
the request.
"""

from __future__ import annotations

from domain.errors import StorageFailed
from domain.features import SAFE_DOWNGRADE, UPGRADE, check_feature_update
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from interfaces.kafka.wire.schema import Response

FIRST_WITH_UPGRADE_TYPES = 1


def handle(request: UpdateFeaturesRequest, call: Call) -> Response | None:
    features = call.broker.features
    updates = {one.feature: one for one in request.feature_updates}
    levels = features.newest().levels
    for name, update in updates.items():
        kind = update.upgrade_type
        if call.version < FIRST_WITH_UPGRADE_TYPES:
            kind = SAFE_DOWNGRADE if update.allow_downgrade else UPGRADE
        node_id = call.broker.placement.node_id
        check_feature_update(
            levels, name, update.max_version_level, kind, node_id, features.supported
        )
    # "NONE" as in Kafka, whose clients read the code only.
    results = [UpdatableFeatureResult(feature=name, error_message="NONE") for name in updates]
    response = UpdateFeaturesResponse(error_message=None, results=results)
    if request.validate_only:
        return response

    def done(failure: StorageFailed | None) -> None:
        call.respond(response if failure is None else call.refused(request, failure))

    features.update({name: one.max_version_level for name, one in updates.items()}, done)
    return None
