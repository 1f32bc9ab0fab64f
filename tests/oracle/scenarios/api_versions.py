from __future__ import annotations

import struct

from interfaces.kafka.wire.messages.api_versions import ApiVersionsRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(name: str, version: str) -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name=name, client_software_version=version)


@scenario("api_versions")
def served_apis(run: ScenarioRun) -> None:
    run.send("request", request("oracle", "1.0"))
    run.send("repeated", request("oracle", "1.0"))


@scenario("api_versions")
def client_software_names(run: ScenarioRun) -> None:
    run.send("dashes and dots inside", request("a-b.c", "1.2-rc.3"))
    run.send("empty", request("", ""))
    run.send("name with a space", request("an oracle", "1.0"))
    run.send("name with a dash at the end", request("oracle-", "1.0"))
    run.send("version with a letter of another alphabet", request("oracle", "1.ä"))
    run.send("version with an underscore", request("oracle", "1_0"))


@scenario("api_versions", last=0)
def future_versions(run: ScenarioRun) -> None:
    for version in (5, 99, -1):
        body = b"\x02a\x021\0"
        run.send_raw(f"version {version}", "api_versions", body, version, response_version=0)
    run.send("the connection goes on", request("", ""))


@scenario("api_versions", last=0)
def unknown_apis(run: ScenarioRun) -> None:
    for key in (-1, 4, 6, 999):
        run.send_frame(f"key {key}", struct.pack(">hhih", key, 0, 1, -1))


@scenario("api_versions")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("bytes behind the body", "api_versions", _body(run) + b"more")
    if run.version >= 3:
        run.send_raw("no body", "api_versions", b"")
        run.send_raw("a name of null", "api_versions", b"\0\x021\0")
        run.send_raw("a missing name", "api_versions", b"\x7fa")
        run.send_raw("an unknown tagged field", "api_versions", b"\x02a\x021\x01\x09\x01x")


def _body(run: ScenarioRun) -> bytes:
    return b"\x02a\x021\0" if run.version >= 3 else b""
