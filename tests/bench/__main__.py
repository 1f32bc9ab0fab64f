"""scripts/bench [--quick] [--rounds N] [--kafka maven|FOLDER_OF_JARS] [--json FILE] [PART...]
scripts/bench soak [--gigabytes N] [--updates N] ...
scripts/bench report [FILE] [--write [PAGE]]
scripts/bench profile --load produce|fetch...

Measures Ottla, and with --kafka Apache Kafka beside it, and prints Markdown tables. All runs and
their medians are written as JSON; `scripts/bench report` makes the tables from it again.
Compare ratios within one run only. No test fails because of a figure.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.bench import (
    chain,
    cold,
    end_to_end,
    engines,
    failover,
    groups,
    java,
    librdkafka,
    limits,
    machine,
    micro,
    profile,
    quotas,
    raw_stream,
    recovery,
    report,
    retention,
    secured,
    soak,
    stall,
    startup,
    transactions,
)
from tests.bench.brokers import Broker, Contender, kafka, ottla, ottla_with_postgres
from tests.bench.filled import Topic
from tests.bench.jars import MAVEN, NoKafka, jars, version
from tests.bench.plan import FULL, QUICK, Plan
from tests.bench.progress import say
from tests.bench.raw_loads import FSYNC, PRODUCE, NoRawbench, Rawbench
from tests.bench.runs import Load, Runs, measure, medians
from tests.bench.stage import Stage
from tests.fakes.postgres import Postgres, PostgresNotFound
from tests.tool import INTERRUPTED, Arguments, at_least_one, stop_as_if_interrupted

CACHE = Path(".cache/bench")
LATEST = CACHE / "latest.json"
BESIDE = [
    *("produce", "fetch", "java", "librdkafka", "groups", "end-to-end", "stall", "transactions"),
    "quotas",
]
#: Parts with brokers of their own: flush before each response, offsets in a database, listeners.
APART = ["fsync", "transactions-fsync", "offsets", "offsets-fsync", "tls", "raw"]
#: Ottla with each storage engine.
ENGINES = ["engines", "engines-fsync", "engines-cold", "engines-start"]
ENGINES += ["engines-postgresql", "engines-replicated"]
PARTS = ["limits", *BESIDE, *APART, *ENGINES, "cold", "retention", "soak", "startup", "failover"]
PARTS += ["micro"]


def main() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:2] == ["report"]:
        report.main(sys.argv[2:], LATEST, PARTS)
        return
    stop_as_if_interrupted()
    with _alone():
        if sys.argv[1:2] == ["profile"]:
            try:
                profile.main(sys.argv[2:], CACHE)
            except KeyboardInterrupt:
                print("interrupted, nothing is written")
                sys.exit(INTERRUPTED)
        else:
            _measure()


@contextmanager
def _alone() -> Iterator[None]:
    """Two benchmarks at once would share folders and cores."""
    with (CACHE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SystemExit("bench: another one runs in this checkout") from None
        yield


def _measure() -> None:
    options = _options()
    plan = QUICK if options.quick else FULL
    if options.rounds:
        plan = plan._replace(rounds=options.rounds)
    if options.gigabytes:
        plan = plan._replace(soak_bytes=options.gigabytes * 1_000_000_000)
    if options.updates:
        plan = plan._replace(soak_updates=options.updates)
    try:
        libs = jars(options.kafka) if options.kafka else None
    except NoKafka as missing:
        raise SystemExit(f"bench: {missing}") from None

    began = time.monotonic()
    about: dict[str, Any] = {
        "command": _command(options),
        "date": time.strftime("%Y-%m-%d"),
        "revision": machine.revision(),
        "machine": machine.describe(),
        "load_before": machine.busy(),
        "kafka": version(libs) if libs else None,
        "rounds": plan.rounds,
    }
    bench = Bench(plan, libs, options.parts or PARTS)
    try:
        bench.run()
    except KeyboardInterrupt:
        count, failed = len(bench.runs.rows), len(bench.runs.failures())
        print(f"interrupted after {count} runs, {failed} failed; {options.json} is unchanged")
        sys.exit(INTERRUPTED)
    about["minutes"] = round((time.monotonic() - began) / 60, 1)
    written = about | {
        "limits": bench.limits,
        "micro": bench.micro,
        "skipped": bench.skipped,
        "medians": medians(bench.runs.rows),
        "runs": bench.runs.rows,
    }
    options.json.write_text(json.dumps(written, indent=1) + "\n")
    print(report.markdown(json.loads(options.json.read_text())))
    print(f"\nbench: {options.json}, {about['minutes']} minutes", file=sys.stderr)
    if bench.runs.failures():
        sys.exit("bench: some parts failed, see FAILED above")


class Bench:
    """Runs the requested parts one after the other."""

    def __init__(self, plan: Plan, libs: Path | None, parts: list[str]) -> None:
        self.runs = Runs()
        self.limits: dict[str, float] = {}
        self.micro: dict[str, float] = {}
        self.skipped: dict[str, str] = {}
        self._plan, self._libs, self._parts = plan, libs, parts
        self._topic = Topic("filled", 1, plan.filled_bytes)

    def run(self) -> None:
        quick = self._plan.scale < 1
        if "limits" in self._parts:
            say("limits")
            self.limits = limits.measure(CACHE / "limits", quick)
        try:
            rawbench = Rawbench(CACHE)
        except NoRawbench as missing:
            self.skipped["all but limits, startup, micro"] = str(missing)
        else:
            if beside := [part for part in BESIDE if part in self._parts]:
                self._beside(rawbench, beside)
            if "fsync" in self._parts:
                self._fsync("fsync", rawbench, rawbench.produce_loads(FSYNC, self._plan.seconds))
            if "transactions-fsync" in self._parts:
                ends = transactions.loads(rawbench, self._plan.seconds)
                self._fsync("transactions-fsync", rawbench, list(ends))
            for part, flush in (("offsets", "os"), ("offsets-fsync", "commit")):
                if part in self._parts:
                    self._offsets(part, flush, rawbench)
            if "tls" in self._parts:
                self._tls(rawbench)
            if "raw" in self._parts:
                plan = self._plan
                streams = raw_stream.loads(rawbench, plan.filled_bytes, plan.seconds)
                stage = self._stage_of(raw_stream.contenders(), rawbench)
                self._apart("raw", stage, list(streams))
            if "cold" in self._parts:
                plan = self._plan
                logs = CACHE, rawbench, plan.cold_bytes, plan.rounds
                cold.measure(self.runs, "cold", ottla("os"), *logs)
            self._engines(rawbench)
            if "retention" in self._parts:
                limited, size = ottla("os", *retention.SETTINGS), self._plan.filled_bytes
                retention.measure(self.runs, limited, CACHE, rawbench, size, self._plan.rounds)
            if "soak" in self._parts:
                self._soak(rawbench)
            if "startup" in self._parts:
                killed = self.runs, "startup", self._contenders("os"), CACHE, rawbench
                recovery.measure(*killed, self._plan.recovered_bytes, self._plan.rounds)
                if not quick:
                    recovery.measure(*killed, 0, 1)
        if "startup" in self._parts:
            startup.measure(self.runs, self._contenders("os"), CACHE, self._plan.starts)
        if "failover" in self._parts:
            self._failover()
        if "micro" in self._parts:
            say("micro")
            self.micro = micro.measure(quick) | chain.measure(CACHE, quick)

    def _contenders(self, flush: str) -> list[Contender]:
        return [ottla(flush), *([kafka(self._libs, flush)] if self._libs else [])]

    def _beside(self, rawbench: Rawbench, parts: list[str]) -> None:
        clients = None
        stage = self._stage("os", rawbench)
        try:
            if {"java", "end-to-end"} & set(parts):
                clients = self._java()
            for part in parts:
                loads = self._loads(part, rawbench, clients)
                measure(self.runs, stage, part, loads, self._plan.rounds)
        finally:
            stage.close()
            if clients is not None:
                clients.close()

    def _loads(self, part: str, rawbench: Rawbench, clients: java.JavaClients | None) -> list[Any]:
        plan, topic = self._plan, self._topic
        if part == "produce":
            return rawbench.produce_loads(PRODUCE, plan.seconds)
        if part == "fetch":
            return rawbench.fetch_loads(topic, plan.seconds)
        if part == "java":
            return list(java.loads(clients, topic, rawbench, plan.scale)) if clients else []
        if part == "librdkafka":
            return list(librdkafka.loads(topic, rawbench, plan.scale))
        if part == "groups":
            return list(groups.rebalance_loads())
        if part == "end-to-end":
            javas = list(java.latency_loads(clients, plan.scale)) if clients else []
            return [*end_to_end.loads(plan.paced_s), *javas]
        if part == "quotas":
            return list(quotas.loads(rawbench, plan.seconds))
        if part == "transactions":
            return [
                *transactions.loads(rawbench, plan.seconds),
                *transactions.read_loads(rawbench, plan.filled_bytes, plan.seconds),
            ]
        return list(stall.loads(rawbench, topic, plan.seconds))

    def _engines(self, rawbench: Rawbench) -> None:
        plan, topic = self._plan, self._topic
        contenders = {flush: engines.contenders(self._libs, flush) for flush in ("os", "commit")}
        if "engines" in self._parts:
            loads = list(engines.loads(rawbench, topic, plan.seconds))
            self._apart("engines", self._stage_of(contenders["os"], rawbench), loads)
        if "engines-fsync" in self._parts:
            loads = rawbench.produce_loads(engines.FSYNC, plan.seconds)
            self._apart("engines-fsync", self._stage_of(contenders["commit"], rawbench), loads)
        if "engines-cold" in self._parts:
            for contender in contenders["os"]:
                logs = CACHE, rawbench, 2 * plan.cold_bytes, plan.rounds
                cold.measure(self.runs, "engines-cold", contender, *logs)
        if "engines-start" in self._parts:
            killed = self.runs, "engines-start", contenders["os"], CACHE, rawbench
            size_bytes = plan.recovered_bytes * 5 // 2
            recovery.measure(*killed, size_bytes, plan.rounds, engines.PARTITIONS)
        if "engines-postgresql" in self._parts:
            with self._postgres("a store in PostgreSQL") as server:
                if server is not None:
                    made = engines.with_postgres(self._libs, server)
                    loads = list(engines.server_loads(rawbench, topic, plan.seconds))
                    self._apart("engines-postgresql", self._stage_of(made, rawbench), loads)
        if "engines-replicated" in self._parts:
            both = "a store in PostgreSQL with and without a standby"
            with self._postgres(both) as alone, self._postgres(both) as primary:
                if alone is not None and primary is not None:
                    made = engines.replicated(self._libs, alone, primary)
                    loads = rawbench.produce_loads(engines.REPLICATED, plan.seconds)
                    self._apart("engines-replicated", self._stage_of(made, rawbench), loads)

    def _failover(self) -> None:
        with self._postgres("failover of brokers over one PostgreSQL") as server:
            if server is not None:
                ours = failover.ottlas(server, CACHE)
                failover.measure(self.runs, "ottla-postgresql", ours, self._plan.rounds)
        if self._libs is not None:
            theirs = failover.kafkas(self._libs, CACHE)
            failover.measure(self.runs, "kafka", theirs, self._plan.rounds)

    def _soak(self, rawbench: Rawbench) -> None:
        plan, contenders = self._plan, [ottla("os", *soak.OPTIONS)]
        if self._libs:
            contenders.append(kafka(self._libs, "os", soak.PROPERTIES))
        sizes = plan.soak_bytes, plan.soak_updates, plan.warm_up_s
        for contender in contenders:
            soak.measure(self.runs, contender, CACHE, rawbench, *sizes)

    def _fsync(self, part: str, rawbench: Rawbench, loads: list[Load]) -> None:
        self._apart(part, self._stage("commit", rawbench), loads)

    def _tls(self, rawbench: Rawbench) -> None:
        contenders = secured.contenders(self._libs, CACHE / "certificates")
        loads = list(secured.loads(rawbench, self._topic, self._plan.seconds))
        self._apart("tls", self._stage_of(contenders, rawbench), loads)

    def _offsets(self, part: str, flush: str, rawbench: Rawbench) -> None:
        """Ottla with each engine for committed offsets."""
        elsewhere = [
            ottla(flush, "--set", f"offsets={engine}://", name=f"ottla-{engine}")
            for engine in ("memory", "sqlite")
        ]
        loads = list(groups.offset_loads(rawbench, CACHE, self._plan.seconds))
        with self._postgres("offsets in PostgreSQL") as server:
            if server is not None:
                elsewhere.append(ottla_with_postgres(flush, server))
            self._apart(part, self._stage(flush, rawbench, *elsewhere), loads)

    @contextmanager
    def _postgres(self, what: str) -> Iterator[Postgres | None]:
        try:
            import_module("psycopg")
            server = Postgres(durable=True)
        except (ImportError, PostgresNotFound) as missing:
            self.skipped[what] = str(missing)
            yield None
            return
        try:
            server.start()
            yield server
        finally:
            server.remove()

    def _apart(self, part: str, stage: Stage, loads: list[Load]) -> None:
        try:
            measure(self.runs, stage, part, loads, self._plan.rounds)
        finally:
            stage.close()

    def _stage(self, flush: str, rawbench: Rawbench, *more: Contender) -> Stage:
        return self._stage_of([*self._contenders(flush), *more], rawbench)

    def _stage_of(self, contenders: list[Contender], rawbench: Rawbench) -> Stage:
        def warm_up(contender: Contender, broker: Broker) -> None:
            rawbench.warm_up(contender, broker, self._plan.warm_up_s)

        return Stage(contenders, CACHE, warm_up)

    def _java(self) -> java.JavaClients | None:
        if self._libs is None:
            self.skipped["java"] = "the Java client comes with Kafka's jars (--kafka)"
            return None
        try:
            return java.JavaClients(self._libs, CACHE)
        except java.NoJava as missing:
            self.skipped["java"] = str(missing)
            return None


def _options() -> argparse.Namespace:
    parser = Arguments(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="short runs, one round")
    parser.add_argument("--rounds", type=at_least_one, help="how often each load meets each broker")
    parser.add_argument("--gigabytes", type=at_least_one, help="of the soak, through a tenth of it")
    parser.add_argument("--updates", type=at_least_one, help="of the soak, of 100,000 keys")
    parser.add_argument("--json", type=Path, default=LATEST)
    parser.add_argument(
        "--kafka", metavar="maven|FOLDER", help="compare with Kafka: Maven packages, or these jars"
    )
    options = parser.parse_args()
    if not set(options.parts) <= set(PARTS):
        parser.error(f"unknown part; the parts are {', '.join(PARTS)}")
    # Checked first: a run takes up to half an hour.
    if not os.access(options.json if options.json.exists() else options.json.parent, os.W_OK):
        parser.error(f"{options.json} cannot be written")
    return options


def _command(options: argparse.Namespace) -> str:
    """The command without the path of the jars, for the report."""
    words = ["scripts/bench"]
    words += ["--quick"] if options.quick else []
    for name in ("rounds", "gigabytes", "updates"):
        if value := getattr(options, name):
            words += [f"--{name}", str(value)]
    if options.kafka:
        words += ["--kafka", MAVEN if options.kafka == MAVEN else "FOLDER_OF_JARS"]
    return shlex.join([*words, *options.parts])


if __name__ == "__main__":
    main()
