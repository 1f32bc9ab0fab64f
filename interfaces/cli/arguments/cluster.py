"""ottla cluster ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output
from interfaces.terminal.words import Commands, command, family


def add(commands: Commands) -> None:
    cluster = family(commands, "cluster", "information about a cluster and its health")
    info = command(cluster, "info", "cluster:info", "id, brokers and topics")
    add_output(info)
    add_client(info)
    health = command(
        cluster,
        "health",
        "cluster:health",
        "exit with 0 if the cluster is healthy",
        "Healthy: brokers respond, there is a controller, and every partition has a leader and all "
        "replicas in sync. For scripts and CI, -w -e waits for that, up to --timeout.",
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
