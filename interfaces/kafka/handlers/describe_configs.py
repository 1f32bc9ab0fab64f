"""DescribeConfigs (key 32), versions 1-4.

1  everywhere a value is set, if asked for (synonyms, KIP-226)
3  types, and documentation if asked for (KIP-569)
4  flexible
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from domain.configs.entry import ConfigEntry
from domain.configs.resource import Resource
from domain.errors import BrokerError, InvalidRequest
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.config_numbers import RESOURCE_KINDS, SOURCES, TYPES
from interfaces.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

#: Kafka's words for INVALID_REQUEST.
_MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)

#: Of one request: most topics share most of their entries.
Made = Callable[[ConfigEntry], DescribeConfigsResourceResult]


def handle(request: DescribeConfigsRequest, call: Call) -> DescribeConfigsResponse:
    """What is named more than once is answered once: it may be named fifty thousand times."""
    first: dict[tuple[int, str], DescribeConfigsResource] = {}
    for resource in request.resources:
        first.setdefault((resource.resource_type, resource.resource_name), resource)
    asked = first.values()
    made = cache(partial(_config, request=request))
    if any(resource.resource_type not in RESOURCE_KINDS for resource in asked):
        results = [_refused(resource, InvalidRequest(_MALFORMED), call) for resource in asked]
    else:
        results = [_result(resource, made, call) for resource in asked]
    return DescribeConfigsResponse(results=results)


def _result(asked: DescribeConfigsResource, made: Made, call: Call) -> DescribeConfigsResult:
    try:
        entries = call.broker.configs.describe_configs.describe(
            Resource(RESOURCE_KINDS[asked.resource_type], asked.resource_name)
        )
    except BrokerError as refused:
        return _refused(asked, refused, call)
    keys = asked.configuration_keys
    if keys:
        wanted = frozenset(keys)
        entries = [entry for entry in entries if entry.name in wanted]
    return DescribeConfigsResult(
        error_code=0,
        error_message="",
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
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
    asked: DescribeConfigsResource, error: BrokerError, call: Call
) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=call.code(error),
        error_message=error.message,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )
