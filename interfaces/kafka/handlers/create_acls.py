"""CreateAcls (key 30), versions 1-3.

1  prefixed resource names (KIP-290)      2  flexible      3  users as resources (KIP-373)

There are no ACLs: the response is that of a Kafka broker without an authorizer.
"""

from __future__ import annotations

from typing import NoReturn

from domain.errors import SecurityDisabled
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.create_acls import CreateAclsRequest

EXPECTED = (SecurityDisabled,)


def handle(request: CreateAclsRequest, call: Call) -> NoReturn:
    raise SecurityDisabled("No Authorizer is configured.")
