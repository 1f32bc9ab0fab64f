"""DescribeConfigs (key 32), versions 1-4.

1  synonyms: all places where a value is set (KIP-226)
3  types and documentation (KIP-569)
4  flexible
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from domain.configs.entry import ConfigEntry
from domain.configs.resource import RESOURCE_KINDS, Resource
from domain.errors import BrokerError, InvalidRequest
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.config_numbers import SOURCES, TYPES
from interfaces.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

#: Kafka's message of INVALID_REQUEST.
_MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)

#: Kafka's message for a resource without the right.
NOT_AUTHORIZED = "{} authorization failed."
#: As in Kafka, resources without the right are last.
REFUSED_LAST = True

#: Cached within one request: most topics share most of their entries.
Made = Callable[[ConfigEntry], DescribeConfigsResourceResult]


def handle(request: DescribeConfigsRequest, call: Call) -> DescribeConfigsResponse:
    """A resource has one result, also if a request names it fifty thousand times."""
    first: dict[tuple[int, str], DescribeConfigsResource] = {}
    for resource in request.resources:
        first.setdefault((resource.resource_type, resource.resource_name), resource)
    requested = first.values()
    made = cache(partial(_config, request=request))
    if any(resource.resource_type not in RESOURCE_KINDS for resource in requested):
        results = [_refused(resource, InvalidRequest(_MALFORMED), call) for resource in requested]
    else:
        results = [_result(resource, made, call) for resource in requested]
    return DescribeConfigsResponse(results=results)


def _result(requested: DescribeConfigsResource, made: Made, call: Call) -> DescribeConfigsResult:
    try:
        entries = call.broker.configs.describe_configs.describe(
            Resource(RESOURCE_KINDS[requested.resource_type], requested.resource_name)
        )
    except BrokerError as refused:
        return _refused(requested, refused, call)
    keys = requested.configuration_keys
    if keys:
        names = frozenset(keys)
        entries = [entry for entry in entries if entry.name in names]
    return DescribeConfigsResult(
        error_code=0,
        error_message="",
        resource_type=requested.resource_type,
        resource_name=requested.resource_name,
        configs=[made(entry) for entry in entries],
    )


def _config(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    definition = entry.definition
    synonyms = entry.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.text,
        read_only=entry.read_only,
        config_source=SOURCES[entry.source],
        is_sensitive=definition.sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=one.name, value=one.text, source=SOURCES[one.source])
            for one in synonyms
        ],
        config_type=TYPES[definition.kind],
        documentation=definition.documentation if request.include_documentation else None,
    )


def _refused(
    requested: DescribeConfigsResource, error: BrokerError, call: Call
) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=call.code(error),
        error_message=error.message,
        resource_type=requested.resource_type,
        resource_name=requested.resource_name,
    )
