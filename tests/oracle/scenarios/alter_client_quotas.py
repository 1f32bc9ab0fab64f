"""Quotas of users and client ids that no other scenario has; each ends without quotas."""

from __future__ import annotations

from interfaces.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
)
from interfaces.kafka.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

EXACT, DEFAULT, SPECIFIED = 0, 1, 2
USER, CLIENT, IP = "user", "client-id", "ip"
PRODUCE, CONSUME, PERCENT = "producer_byte_rate", "consumer_byte_rate", "request_percentage"
MUTATIONS, CONNECTIONS = "controller_mutation_rate", "connection_creation_rate"
_POLLS = 2_000

Entity = dict[str, str | None]


def entry(entity: Entity, **ops: float | None) -> EntryData:
    return entry_of(list(entity.items()), list(ops.items()))


def entry_of(
    entity: list[tuple[str, str | None]], ops: list[tuple[str, float | None]]
) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )


def request(*entries: EntryData, only: bool = False) -> AlterClientQuotasRequest:
    return AlterClientQuotasRequest(entries=list(entries), validate_only=only)


def described(*parts: tuple[str, int, str | None], strict: bool) -> DescribeClientQuotasRequest:
    components = [ComponentData(entity_type=t, match_type=m, match=name) for t, m, name in parts]
    return DescribeClientQuotasRequest(components=components, strict=strict)


def wait_for(run: ScenarioRun, entity: Entity, values: dict[str, float]) -> None:
    """Kafka responds before its broker part knows a change."""
    parts = [(kind, DEFAULT if name is None else EXACT, name) for kind, name in entity.items()]
    for _ in range(_POLLS):
        response = run.call(described(*parts, strict=True), DescribeClientQuotasResponse, 1)
        found = {one.key: one.value for each in response.entries for one in each.values}
        if found == values:
            return
    raise AssertionError(f"{entity} has {found}, not {values}")


def clear(run: ScenarioRun, *entities: Entity) -> None:
    for entity in entities:
        keys = (CONNECTIONS,) if IP in entity else (PRODUCE, CONSUME, PERCENT, MUTATIONS)
        removed = request(entry(entity, **dict.fromkeys(keys)))
        run.call(removed, AlterClientQuotasResponse, 1)
        wait_for(run, entity, {})


@scenario("alter_client_quotas")
def all_entities(run: ScenarioRun) -> None:
    user, client = run.group("u"), run.group("c")
    entities: dict[str, Entity] = {
        "a user": {USER: user},
        "the default user": {USER: None},
        "a client id": {CLIENT: client},
        "the default client id": {CLIENT: None},
        "both": {USER: user, CLIENT: client},
        "a user and the default client id": {USER: user, CLIENT: None},
        "the default user and a client id": {USER: None, CLIENT: client},
        "the default of both": {USER: None, CLIENT: None},
    }
    for number, (step, entity) in enumerate(entities.items()):
        rate = float(10**12 + number)
        run.send(step, request(entry(entity, producer_byte_rate=rate)))
        wait_for(run, entity, {PRODUCE: rate})
    filters: dict[str, tuple[tuple[str, int, str | None], ...]] = {
        "all": (),
        "any user": ((USER, SPECIFIED, None),),
        "any client id": ((CLIENT, SPECIFIED, None),),
        "one user": ((USER, EXACT, user),),
        "default user": ((USER, DEFAULT, None),),
        "user and any client id": ((USER, EXACT, user), (CLIENT, SPECIFIED, None)),
        "default client id of any user": ((CLIENT, DEFAULT, None), (USER, SPECIFIED, None)),
        "any address": ((IP, SPECIFIED, None),),
    }
    for step, parts in filters.items():
        run.send(f"describe {step}", described(*parts, strict=False), run.version)
        run.send(f"describe only {step}", described(*parts, strict=True), run.version)
    clear(run, *entities.values())


@scenario("alter_client_quotas")
def addresses(run: ScenarioRun) -> None:
    for step, name in (("one", "198.51.100.7"), ("a default", None), ("a v6 one", "2001:db8::7")):
        entity: Entity = {IP: name}
        run.send(step, request(entry(entity, connection_creation_rate=1e6)))
        wait_for(run, entity, {CONNECTIONS: 1e6})
    run.send("describe all", described((IP, SPECIFIED, None), strict=False))
    run.send("describe the default", described((IP, DEFAULT, None), strict=False))
    clear(run, {IP: "198.51.100.7"}, {IP: None}, {IP: "2001:db8::7"})
    run.send("no address", request(entry({IP: "no.such.host.invalid"}, connection_creation_rate=1)))
    run.send("a fraction", request(entry({IP: None}, connection_creation_rate=1.5)))
    run.send("too many", request(entry({IP: None}, connection_creation_rate=2.0**31)))
    run.send("bytes of an address", request(entry({IP: None}, producer_byte_rate=1)))
    run.send("with a user", request(entry({IP: None, USER: "a"}, producer_byte_rate=1)))
    run.send("with a client", request(entry({IP: None, CLIENT: "a"}, connection_creation_rate=1)))


@scenario("alter_client_quotas")
def changes(run: ScenarioRun) -> None:
    user: Entity = {USER: run.group("u")}
    every = {PRODUCE: 1e12, CONSUME: 2e12, PERCENT: 99.5, MUTATIONS: 1000.25}
    run.send("all quotas", request(entry(user, **every)))
    wait_for(run, user, every)
    [(kind, name)] = user.items()
    one = described((kind, EXACT, name), strict=True)
    run.send("described", one)
    run.send("validate only", request(entry(user, producer_byte_rate=3e12), only=True))
    run.send("validate only, invalid", request(entry(user, producer_byte_rate=-1), only=True))
    run.send("described again", one)
    run.send(
        "one set, one removed", request(entry(user, producer_byte_rate=5e12, **{PERCENT: None}))
    )
    left = {PRODUCE: 5e12, CONSUME: 2e12, MUTATIONS: 1000.25}
    wait_for(run, user, left)
    run.send("removed twice", request(entry(user, **{PERCENT: None})))
    run.send("unknown one removed", request(entry(user, planets=None)))
    run.send("no changes", request(entry(user)))
    run.send("no entries", request())
    run.send("one of two invalid", request(entry(user, producer_byte_rate=7e12, planets=1)))
    run.send("described at last", one)
    clear(run, user)


@scenario("alter_client_quotas")
def refusals(run: ScenarioRun) -> None:
    name = run.group("u")
    user: Entity = {USER: name}
    both: Entity = {USER: name, CLIENT: run.group("c")}
    for step, rate in (("zero", 0.0), ("negative", -1.0), ("a fraction", 0.5), ("huge", 1e30)):
        for key in (PRODUCE, CONSUME, PERCENT, MUTATIONS):
            run.send(f"{key} {step}", request(entry(user, **{key: rate}), only=True))
    run.send("almost whole", request(entry(user, producer_byte_rate=5.0000001), only=True))
    run.send("connections of a user", request(entry(user, connection_creation_rate=1)))
    run.send("unknown key", request(entry(user, planets=1)))
    run.send("empty key", request(entry(user, **{"": 1})))
    run.send("no entity", request(entry({}, producer_byte_rate=1)))
    run.send("no entity, no changes", request(entry({})))
    run.send("unknown type", request(entry({"planet": "x"}, producer_byte_rate=1)))
    run.send("empty type", request(entry({"": "x"}, producer_byte_rate=1)))
    run.send("empty user", request(entry({USER: ""}, producer_byte_rate=1)))
    run.send("empty client id", request(entry({USER: name, CLIENT: ""}, producer_byte_rate=1)))
    run.send("empty address", request(entry({IP: ""}, connection_creation_rate=1)))
    twice = [(PRODUCE, 1e12), (PRODUCE, 2e12)]
    run.send("key twice", request(entry_of(list(user.items()), twice)))
    run.send("key twice, of both", request(entry_of(list(both.items()), twice)))
    run.send(
        "type twice", request(entry_of([(USER, name), (USER, "x")], [(PRODUCE, 1.0)]), only=True)
    )
    run.send(
        "entity twice",
        request(entry(user, producer_byte_rate=1e12), entry(user, consumer_byte_rate=1e12)),
    )
    wait_for(run, user, {PRODUCE: 1e12})
    run.send(
        "invalid entity twice",
        request(entry(user, planets=1), entry(user, consumer_byte_rate=1e12)),
    )
    run.send("two entities", request(entry(user, planets=1), entry(both, consumer_byte_rate=1e12)))
    wait_for(run, both, {CONSUME: 1e12})
    clear(run, user, both)


@scenario("alter_client_quotas")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "alter_client_quotas", b"")
