"""ottla cluster ..."""

from __future__ import annotations

import argparse

from interfaces.cli.arguments.common import add_admin, add_client, add_dry_run, add_output
from interfaces.terminal.values import not_negative
from interfaces.terminal.words import Commands, Parser, command, family

#: int32 in the protocol.
_LARGEST_ID = 2**31 - 1


def add(commands: Commands) -> None:
    cluster = family(commands, "cluster", "the brokers of a cluster, its health, and leaders")
    describe = command(
        cluster,
        "describe",
        "cluster:describe",
        "id, brokers, and what is wrong with leaders",
        "LEADERS: the partitions that a broker leads; PREFERRED: those that it should lead, as the "
        "first one of their replicas; MAX-EPOCH: the highest leader epoch of those that it leads "
        "(`ottla topic describe` has each). FENCED: it is not alive, or cut off, and leads nothing "
        "(Ottla, and Kafka from 4.0 on). With --sessions or --admin there are STATE, SESSION-ID "
        "and LEASE-MS, which Kafka's protocol does not have: of the brokers as one of them knows "
        "them (REST, /brokers). `ottla cluster info` is the same.",
        aliases=("info",),
    )
    _add_internal(describe)
    describe.add_argument(
        "--sessions",
        action="store_true",
        help="state, session and lease of each broker, from Ottla's REST",
    )
    add_admin(describe)
    add_output(describe)
    add_client(describe)
    health = command(
        cluster,
        "health",
        "cluster:health",
        "exit with 0 if the cluster is healthy",
        "Healthy: brokers respond, there is a controller, every partition has a leader and all "
        "replicas in sync, and a group coordinator serves committed offsets (asked only if "
        "the user may describe them; without PostgreSQL they are served for "
        "broker.session.timeout.ms). Whether brokers "
        "can write is known with --admin only. For scripts and CI, -w -e waits for health, up to "
        "--timeout.",
    )
    health.add_argument("-w", "--watch", action="store_true", help="repeat until interrupted")
    health.add_argument(
        *("-e", "--exit-when-healthy"), action="store_true", help="with -w: until healthy"
    )
    health.add_argument(
        "--admin",
        metavar="HOST:PORT",
        help="read /readyz of an Ottla broker, at this address of REST",
    )
    add_output(health)
    add_client(health)
    log_dirs = command(
        cluster,
        "logdirs",
        "log_dirs:log_dirs",
        "sizes of replicas on disk",
        "The counterpart of kafka-log-dirs. SIZE is in bytes.",
    )
    log_dirs.add_argument("topics", nargs="*", metavar="TOPIC", help="of these topics only")
    add_output(log_dirs)
    add_client(log_dirs)
    balance = command(
        cluster,
        "balance",
        "cluster_moves:balance",
        "give each living broker about as many partitions and leaders",
        "Each topic is evened, and all topics together. As few partitions as possible are "
        "reassigned, then their preferred leaders are elected. Replicas of brokers that are not "
        "alive move to others. With Ottla this copies nothing.",
    )
    _add_internal(balance)
    add_dry_run(balance)
    add_client(balance)
    drain = command(
        cluster,
        "drain",
        "cluster_moves:drain",
        "let other brokers lead the partitions of a broker",
        "The broker stays a replica where there is another one, as the last: so it is not the "
        "preferred leader, and `ottla cluster balance` gives it its share again. To stop a broker "
        "for a while needs none of this: it hands its partitions over, and gets them back. New "
        "topics may be placed on it until it is stopped.",
    )
    _add_node(drain)
    drain.add_argument(
        "--remove", action="store_true", help="it will not return: other brokers get its replicas"
    )
    _add_internal(drain)
    add_dry_run(drain)
    add_client(drain)
    unregister = command(
        cluster,
        "unregister",
        "cluster:unregister",
        "end the registration of a broker that will not return",
        "First `ottla cluster drain NODE --remove`, and stop it. The counterpart of kafka-cluster "
        "unregister. Ottla refuses it while the broker is alive or starting, Kafka does not.",
    )
    _add_node(unregister)
    add_client(unregister)


def _add_internal(parser: Parser) -> None:
    parser.add_argument(
        "--internal", action="store_true", help="name each partition of internal topics, too"
    )


def _add_node(parser: Parser) -> None:
    parser.add_argument("node", type=_node_id, metavar="NODE", help="id of the broker")


def _node_id(text: str) -> int:
    found = not_negative(text)
    if found > _LARGEST_ID:
        raise argparse.ArgumentTypeError(f"{found} is more than {_LARGEST_ID}")
    return found
