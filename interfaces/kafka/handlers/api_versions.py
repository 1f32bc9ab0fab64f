"""ApiVersions (key 18), versions 0-4.

 3  flexible; client software name and version (KIP-511)
 4  supported features may have a minimum of 0; older responses omit these

The response header is always version 0. The response to an unknown version is version 0 with error
35 and the row of this API alone, so that the client can retry (KIP-511).
"""

from __future__ import annotations

import re

from domain.errors import InvalidRequest, UnsupportedVersion
from interfaces.kafka.requests.apis import APIS, BY_KEY
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.error_codes import CODES
from interfaces.kafka.wire.headers import API_VERSIONS
from interfaces.kafka.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

FIRST_WITH_SOFTWARE = 3
FIRST_WITH_MINIMUM_0 = 4
_LEGAL_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?", re.ASCII)


def handle(request: ApiVersionsRequest, call: Call) -> ApiVersionsResponse:
    if call.version >= FIRST_WITH_SOFTWARE:
        name, version = request.client_software_name, request.client_software_version
        if not _LEGAL_SOFTWARE.fullmatch(name) or not _LEGAL_SOFTWARE.fullmatch(version):
            error = InvalidRequest("The client software's name or version is not legal")
            return ApiVersionsResponse(error_code=call.code(error))
        client = call.peer.client
        client.software_name = name
        client.software_version = version
    finalized = call.broker.features.finalized
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=api.key, min_version=api.min_version, max_version=api.max_version)
            for api in APIS
        ],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in call.broker.features.supported.items()
            if lowest > 0 or call.version >= FIRST_WITH_MINIMUM_0
        ],
        finalized_features_epoch=finalized.epoch,
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in finalized.levels.items()
            if level > 0
        ],
    )


def failed(
    request: ApiVersionsRequest | None, code: int, message: str | None, version: int
) -> ApiVersionsResponse:
    response = ApiVersionsResponse(error_code=code)
    if code == CODES[UnsupportedVersion]:
        own = BY_KEY[API_VERSIONS]
        response.api_keys = [
            ApiVersion(api_key=own.key, min_version=own.min_version, max_version=own.max_version)
        ]
    return response
