"""`import ottla`: a broker for tests, notebooks and scripts, in a process of its own.

    import ottla

    with ottla.Broker() as broker:
        print(broker.bootstrap_servers)

The installed package `ottla` is this module. It needs the standard library only: the imports and
the load of the broker are in the other process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interfaces.embed.broker import Broker
    from interfaces.embed.process import BrokerNotStarted
    from interfaces.embed.records import Record
    from interfaces.embed.rest import RestError

__version__ = "0.1.0"

__all__ = ["Broker", "BrokerNotStarted", "Record", "RestError", "__version__"]


def __getattr__(name: str) -> object:
    """Imports the classes at their first use: `ottla serve` imports this package, too."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from interfaces.embed.broker import Broker
    from interfaces.embed.process import BrokerNotStarted
    from interfaces.embed.records import Record
    from interfaces.embed.rest import RestError

    for each in (Broker, BrokerNotStarted, Record, RestError):
        globals()[each.__name__] = each
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
