"""Users with SCRAM credentials (KIP-554). Each scenario deletes its users again."""

from __future__ import annotations

from interfaces.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

SHA_256, SHA_512 = 1, 2
SALT = b"sixteen bytes ok"
_LOOKS = 5_000


def deletion(name: str, mechanism: int = SHA_256) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


def upsertion(
    name: str,
    mechanism: int = SHA_256,
    iterations: int = 4096,
    salt: bytes = SALT,
    salted_password: bytes | None = None,
) -> ScramCredentialUpsertion:
    size = 64 if mechanism == SHA_512 else 32
    salted = b"s" * size if salted_password is None else salted_password
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=salt, salted_password=salted
    )


def request(
    *alterations: ScramCredentialDeletion | ScramCredentialUpsertion,
) -> AlterUserScramCredentialsRequest:
    return AlterUserScramCredentialsRequest(
        deletions=[one for one in alterations if isinstance(one, ScramCredentialDeletion)],
        upsertions=[one for one in alterations if isinstance(one, ScramCredentialUpsertion)],
    )


def wait_for(run: ScenarioRun, name: str, credentials: dict[int, int]) -> None:
    """Kafka responds before the broker knows the change; iterations by mechanism."""
    described = DescribeUserScramCredentialsRequest(users=[UserName(name=name)])
    for _ in range(_LOOKS):
        response = run.call(described, DescribeUserScramCredentialsResponse, 0)
        infos = response.results[0].credential_infos
        if {one.mechanism: one.iterations for one in infos} == credentials:
            return
    raise AssertionError(f"{name} never had {credentials}")


def cleared(run: ScenarioRun, *names: str) -> None:
    """Each of them has a SHA-256 credential only."""
    deletions = request(*map(deletion, names))
    response = run.call(deletions, AlterUserScramCredentialsResponse, 0)
    assert [one.error_code for one in response.results] == [0] * len(names)
    for name in names:
        wait_for(run, name, {})


@scenario("alter_user_scram_credentials")
def users(run: ScenarioRun) -> None:
    run.send("no alteration", request())
    run.send("a new user", request(upsertion("ann")))
    wait_for(run, "ann", {SHA_256: 4096})
    run.send("other iterations", request(upsertion("ann", iterations=16384)))
    wait_for(run, "ann", {SHA_256: 16384})
    run.send("a second mechanism", request(upsertion("ann", SHA_512, 8192)))
    wait_for(run, "ann", {SHA_256: 16384, SHA_512: 8192})
    run.send("two users", request(upsertion("bea"), upsertion("cid")))
    wait_for(run, "cid", {SHA_256: 4096})
    run.send("one deleted, one altered", request(deletion("bea"), upsertion("cid", SHA_512)))
    wait_for(run, "cid", {SHA_256: 4096, SHA_512: 4096})
    run.send("a mechanism deleted", request(deletion("cid", SHA_512)))
    wait_for(run, "cid", {SHA_256: 4096})
    run.send("deleted again", request(deletion("cid", SHA_512)))
    run.send("another user", request(deletion("nobody")))
    run.send("one valid, one not", request(deletion("ann", SHA_512), deletion("nobody")))
    wait_for(run, "ann", {SHA_256: 16384})
    cleared(run, "ann", "cid")


@scenario("alter_user_scram_credentials")
def twice_in_a_request(run: ScenarioRun) -> None:
    run.send("two upsertions", request(upsertion("dan"), upsertion("dan")))
    run.send("two mechanisms", request(upsertion("dan"), upsertion("dan", SHA_512)))
    run.send("deletion and upsertion", request(deletion("dan"), upsertion("dan")))
    run.send("two deletions", request(deletion("dan"), deletion("dan")))
    run.send("of two mechanisms", request(deletion("dan"), deletion("dan", SHA_512)))
    run.send(
        "an invalid upsertion first", request(upsertion("dan", iterations=1), upsertion("dan"))
    )
    run.send("beside another user", request(upsertion("dan"), upsertion("dan"), deletion("eve")))


@scenario("alter_user_scram_credentials")
def an_existing_user_twice(run: ScenarioRun) -> None:
    run.call(request(upsertion("liv")), AlterUserScramCredentialsResponse, 0)
    wait_for(run, "liv", {SHA_256: 4096})
    run.send("deletion and upsertion", request(deletion("liv"), upsertion("liv")))
    run.send("two deletions", request(deletion("liv"), deletion("liv")))
    run.send("of two mechanisms", request(deletion("liv"), upsertion("liv", SHA_512)))
    run.send("deletion and bad upsertion", request(deletion("liv"), upsertion("liv", iterations=1)))
    wait_for(run, "liv", {SHA_256: 4096})
    cleared(run, "liv")


@scenario("alter_user_scram_credentials")
def limits(run: ScenarioRun) -> None:
    run.send("too few iterations", request(upsertion("fay", iterations=4095)))
    run.send("too many iterations", request(upsertion("fay", iterations=16385)))
    run.send("no iterations", request(upsertion("fay", iterations=0)))
    run.send("negative iterations", request(upsertion("fay", iterations=-1)))
    run.send("too few, SHA-512", request(upsertion("fay", SHA_512, 4095)))
    run.send("an unknown mechanism", request(upsertion("fay", 3)))
    run.send("mechanism 0", request(upsertion("fay", 0)))
    run.send("a deletion of an unknown mechanism", request(deletion("fay", 3)))
    run.send("mechanism and iterations", request(upsertion("fay", 3, 1)))
    run.send("an empty name", request(upsertion("")))
    run.send("an empty name and few iterations", request(upsertion("", iterations=1)))
    run.send("an empty name deleted", request(deletion("")))
    run.send("no salt", request(upsertion("fay", salt=b"")))
    wait_for(run, "fay", {SHA_256: 4096})
    run.send("no salted password", request(upsertion("gil", salted_password=b"")))
    run.send("a short salted password", request(upsertion("hal", salted_password=b"1")))
    wait_for(run, "hal", {SHA_256: 4096})
    cleared(run, "fay", "hal")


@scenario("alter_user_scram_credentials")
def names(run: ScenarioRun) -> None:
    for number, name in enumerate(("a=b,c", " ", "größe", "n" * 300)):
        run.send(f"name {number}", request(upsertion(name)))
        wait_for(run, name, {SHA_256: 4096})
        cleared(run, name)


@scenario("alter_user_scram_credentials")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "alter_user_scram_credentials", b"")
