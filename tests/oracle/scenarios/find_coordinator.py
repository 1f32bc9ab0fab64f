from __future__ import annotations

from interfaces.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

SEVERAL, SHARES = 4, 6
GROUP, TRANSACTION, SHARE = 0, 1, 2


def request(run: ScenarioRun, *keys: str, kind: int = GROUP) -> FindCoordinatorRequest:
    if run.version >= SEVERAL:
        return FindCoordinatorRequest(coordinator_keys=list(keys), key_type=kind)
    return FindCoordinatorRequest(key=keys[0], key_type=kind)


@scenario("find_coordinator")
def of_a_group(run: ScenarioRun) -> None:
    run.send("one", request(run, "group"))
    run.send("an empty name", request(run, ""))
    run.send("a long name", request(run, "x" * 1_000))
    if run.version >= SEVERAL:
        run.send("several", request(run, "b", "a", ""))
        run.send("the same twice", request(run, "a", "a"))
        run.send("none", request(run))


@scenario("find_coordinator", first=1)
def of_other_kinds(run: ScenarioRun) -> None:
    run.send("a transactional id", request(run, "mine", kind=TRANSACTION))
    run.send("an empty transactional id", request(run, "", kind=TRANSACTION))
    run.send("an unknown kind", request(run, "mine", kind=3))
    run.send("a negative kind", request(run, "mine", kind=-1))
    if run.version >= SHARES:
        run.send("an invalid share group key", request(run, "mine", kind=SHARE))
        bad = "group:topic:0"
        run.send("a share group key without a topic id", request(run, bad, kind=SHARE))
    else:
        run.send("a share group before version 6", request(run, "mine", kind=SHARE))


@scenario("find_coordinator")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "find_coordinator", b"")
    run.send_raw("half a body", "find_coordinator", b"\0" if run.version < 3 else b"\x05a")
