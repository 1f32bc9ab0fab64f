from __future__ import annotations

from interfaces.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

SEVERAL, SHARES = 4, 6
GROUP, TRANSACTION, SHARE = 0, 1, 2


def asked(tell: Teller, *keys: str, kind: int = GROUP) -> FindCoordinatorRequest:
    if tell.version >= SEVERAL:
        return FindCoordinatorRequest(coordinator_keys=list(keys), key_type=kind)
    return FindCoordinatorRequest(key=keys[0], key_type=kind)


@scenario("find_coordinator")
def of_a_group(tell: Teller) -> None:
    tell.ask("one", asked(tell, "group"))
    tell.ask("an empty name", asked(tell, ""))
    tell.ask("a long name", asked(tell, "x" * 1_000))
    if tell.version >= SEVERAL:
        tell.ask("several", asked(tell, "b", "a", ""))
        tell.ask("the same twice", asked(tell, "a", "a"))
        tell.ask("none", asked(tell))


@scenario("find_coordinator", first=1)
def of_other_kinds(tell: Teller) -> None:
    tell.ask("a transactional id", asked(tell, "mine", kind=TRANSACTION))
    tell.ask("an empty transactional id", asked(tell, "", kind=TRANSACTION))
    tell.ask("an unknown kind", asked(tell, "mine", kind=3))
    tell.ask("a negative kind", asked(tell, "mine", kind=-1))
    if tell.version >= SHARES:
        tell.ask("a share group's key that is none", asked(tell, "mine", kind=SHARE))
        bad = "group:topic:0"
        tell.ask("a share group's key without a topic id", asked(tell, bad, kind=SHARE))
    else:
        tell.ask("a share group before its time", asked(tell, "mine", kind=SHARE))


@scenario("find_coordinator")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "find_coordinator", b"")
    tell.ask_raw("half a body", "find_coordinator", b"\0" if tell.version < 3 else b"\x05a")
