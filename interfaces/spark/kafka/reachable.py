"""Whether there is a broker at all, before librdkafka is asked."""

from __future__ import annotations

from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.terminal.addresses import addresses
from interfaces.terminal.reachable import BrokerUnreachable, first_reachable


def look(servers: str) -> None:
    """Raises where no address of `servers` takes a connection."""
    try:
        first_reachable(addresses(servers))
    except ValueError as wrong:
        raise WrongOption(f"kafka.bootstrap.servers: {wrong}") from None
    except BrokerUnreachable as why:
        raise JobFailed(str(why)) from None
