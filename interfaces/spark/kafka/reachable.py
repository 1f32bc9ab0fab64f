"""Fails at once where no broker listens; librdkafka would retry for minutes."""

from __future__ import annotations

from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.terminal.addresses import addresses
from interfaces.terminal.reachable import BrokerUnreachable, first_reachable


def look(servers: str) -> None:
    """Raises if no address of `servers` accepts a connection."""
    try:
        first_reachable(addresses(servers))
    except ValueError as wrong:
        raise WrongOption(f"option kafka.bootstrap.servers: {wrong}") from None
    except BrokerUnreachable as why:
        raise JobFailed(str(why)) from None
