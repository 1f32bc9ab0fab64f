from __future__ import annotations

import struct

from interfaces.kafka.wire.messages.api_versions import ApiVersionsRequest
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(name: str, version: str) -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name=name, client_software_version=version)


@scenario("api_versions")
def what_is_served(tell: Teller) -> None:
    tell.ask("ask", asked("oracle", "1.0"))
    tell.ask("ask again", asked("oracle", "1.0"))


@scenario("api_versions")
def names_of_software(tell: Teller) -> None:
    tell.ask("dashes and dots inside", asked("a-b.c", "1.2-rc.3"))
    tell.ask("empty", asked("", ""))
    tell.ask("name with a space", asked("an oracle", "1.0"))
    tell.ask("name with a dash at the end", asked("oracle-", "1.0"))
    tell.ask("version with a letter of another alphabet", asked("oracle", "1.ä"))
    tell.ask("version with an underscore", asked("oracle", "1_0"))


@scenario("api_versions", last=0)
def versions_to_come(tell: Teller) -> None:
    for version in (5, 99, -1):
        body = b"\x02a\x021\0"
        tell.ask_raw(f"version {version}", "api_versions", body, version, answer_version=0)
    tell.ask("the connection goes on", asked("", ""))


@scenario("api_versions", last=0)
def apis_that_there_are_not(tell: Teller) -> None:
    for key in (-1, 4, 6, 999):
        tell.ask_frame(f"key {key}", struct.pack(">hhih", key, 0, 1, -1))


@scenario("api_versions")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("bytes behind the body", "api_versions", _body(tell) + b"more")
    if tell.version >= 3:
        tell.ask_raw("no body", "api_versions", b"")
        tell.ask_raw("a name of null", "api_versions", b"\0\x021\0")
        tell.ask_raw("a name that is not there", "api_versions", b"\x7fa")
        tell.ask_raw("an unknown tagged field", "api_versions", b"\x02a\x021\x01\x09\x01x")


def _body(tell: Teller) -> bytes:
    return b"\x02a\x021\0" if tell.version >= 3 else b""
