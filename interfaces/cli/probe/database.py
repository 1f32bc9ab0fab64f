"""The PostgreSQL of a broker: what it needs, what costs time, what acknowledged data survives."""

from __future__ import annotations

from collections.abc import Iterator

from infrastructure.storage.postgresql.facts import (
    CONNECTIONS,
    BucketFacts,
    Facts,
    ServerFacts,
    StoreFacts,
    examined,
)
from interfaces.cli.probe.finding import Finding, note, ok, problem

#: Of a commit: one round trip and an fsync.
_SLOW_S = 0.005
_OTHER_CLOCK_S = 1.0
_LONG_TRANSACTION_S = 600


def check_database(place: str) -> Iterator[Finding]:
    """What follows `postgresql://`. Raises StorageUnusable."""
    found = examined(place)
    yield ok(f"PostgreSQL {found.server.version} can have a store, and is no standby")
    yield from findings(found)


def findings(found: Facts) -> Iterator[Finding]:
    server, store, bucket, not_made = found
    yield _store(store) if not_made is None else problem(not_made, "see docs/storage.md")
    if bucket is not None:
        yield _objects(bucket)
    yield _synchronous_commit(server)
    yield _copies(server)
    yield _connections(server, store)
    yield _round_trip(server)
    yield _clock(server)
    yield _autovacuum(server)
    yield _transactions(server)


def _store(store: StoreFacts | None) -> Finding:
    if store is None:
        return note("the schema has no store yet: the first broker makes it")
    if store.format != store.newest_format:
        newest = store.newest_format
        return note(f"the store has format {store.format}: the next start migrates it to {newest}")
    alive = ", ".join(map(str, store.alive)) or "none"
    if store.fenced:
        return note(
            f"brokers of the store: {alive}; not alive: {', '.join(map(str, store.fenced))}"
        )
    return ok(f"brokers of the store: {alive}")


def _objects(bucket: BucketFacts) -> Finding:
    if bucket.problem is None:
        return ok(f"objects can be written to {bucket.shown}, read, listed and deleted")
    return problem(f"objects cannot be used: {bucket.problem}", "see docs/storage.md")


def _synchronous_commit(server: ServerFacts) -> Finding:
    what = f"synchronous_commit is {server.synchronous_commit}"
    if server.synchronous_commit == "off":
        return problem(
            f"{what}: a crash of PostgreSQL loses acknowledged records",
            "alter role ... set synchronous_commit = on (flush=os needs no such setting)",
        )
    if server.synchronous_commit == "local" and server.synchronous_standby_names:
        return problem(
            f"{what}: commits do not wait for the synchronous standby",
            "alter role ... set synchronous_commit = on",
        )
    return ok(what)


def _copies(server: ServerFacts) -> Finding:
    if not server.synchronous_standby_names:
        return note(
            "no synchronous standby: there is one copy, and a standby that is promoted may lack "
            "acknowledged records",
            "set synchronous_standby_names",
        )
    if server.synchronous_standbys:
        return ok(
            f"{server.synchronous_standbys} synchronous standby is connected: there are "
            f"{server.copies} copies, which min.insync.replicas counts"
        )
    if server.hidden_standbys:
        return note(
            "this role may not see which standby is synchronous: min.insync.replicas counts one "
            "copy",
            "grant pg_monitor to it, or set storage.copies",
        )
    return problem(
        "no synchronous standby is connected, and commits wait for one: "
        f"synchronous_standby_names = {server.synchronous_standby_names}",
        "start the standby, or name more of them: ANY 1 (a, b)",
    )


def _connections(server: ServerFacts, store: StoreFacts | None) -> Finding:
    """One more: that of a broker which takes the place of a lost connection."""
    brokers = max(1, 0 if store is None else len([*store.alive, *store.fenced]))
    needed = CONNECTIONS * brokers + 1
    count = f"{brokers} broker{'s' if brokers > 1 else ''}"
    what = f"brokers may have {server.connections} connections, {needed} are needed for {count}"
    if server.connections < needed:
        return problem(what, "raise max_connections, or the limit of the role or database")
    return ok(what)


def _round_trip(server: ServerFacts) -> Finding:
    what = f"a round trip takes {server.round_trip_s * 1000:.1f} ms"
    if server.round_trip_s > _SLOW_S:
        return note(f"{what}: each commit has one", "run brokers near the server")
    return ok(what)


def _clock(server: ServerFacts) -> Finding:
    apart = f"{abs(server.ahead_s):.1f} s"
    if abs(server.ahead_s) < _OTHER_CLOCK_S:
        return ok(f"its clock differs from that of this machine by {apart}")
    direction = "ahead of" if server.ahead_s > 0 else "behind"
    return note(
        f"its clock is {apart} {direction} that of this machine: brokers with other clocks give "
        "records other timestamps (which broker leads does not depend on clocks)",
        "synchronize the clocks (NTP)",
    )


def _autovacuum(server: ServerFacts) -> Finding:
    if server.autovacuum:
        return ok("autovacuum is on")
    what = "autovacuum is off: each commit leaves a dead row, and gets slower"
    return problem(what, "alter system set autovacuum = on; select pg_reload_conf()")


def _transactions(server: ServerFacts) -> Finding:
    longest_s = server.longest_transaction_s
    if longest_s < _LONG_TRANSACTION_S:
        return ok("no transaction is open for long")
    return note(
        f"a transaction is open for {longest_s / 60:.0f} minutes: vacuum removes nothing newer, "
        "and commits get slower",
        "end it: select * from pg_stat_activity order by xact_start",
    )
