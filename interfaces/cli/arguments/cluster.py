"""ottla cluster ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output
from interfaces.terminal.words import Commands, command, family


def add(commands: Commands) -> None:
    cluster = family(commands, "cluster", "look at a cluster and its health")
    info = command(cluster, "info", "cluster:info", "id, brokers and topics")
    add_output(info)
    add_client(info)
    health = command(
        cluster,
        "health",
        "cluster:health",
        "exit with 0 if the cluster is healthy",
        "Healthy: it answers, has a controller, and every partition has a leader and all its "
        "replicas. With -w -e it waits for that, --timeout at the longest: for scripts and CI.",
    )
    health.add_argument("-w", "--watch", action="store_true", help="look again until interrupted")
    health.add_argument(
        *("-e", "--exit-when-healthy"), action="store_true", help="with -w: only until healthy"
    )
    add_output(health)
    add_client(health)
