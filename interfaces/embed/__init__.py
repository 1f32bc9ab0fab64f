"""`import ottla`: a broker for tests, notebooks and scripts, in a process of its own.

    import ottla

    with ottla.Broker() as broker:
        print(broker.bootstrap_servers)

The installed package `ottla` is this module. It needs the standard library only: the imports and
the load of the broker are in the other process.
"""

from __future__ import annotations

from interfaces.embed.broker import Broker
from interfaces.embed.process import BrokerNotStarted
from interfaces.embed.records import Record
from interfaces.embed.rest import RestError

__version__ = "0.1.0"

__all__ = ["Broker", "BrokerNotStarted", "Record", "RestError", "__version__"]

# As users import them, for tracebacks.
for _public in Broker, BrokerNotStarted, Record, RestError:
    _public.__module__ = __name__
