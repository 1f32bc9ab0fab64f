"""How long each part measures, in a full run and in a quick one."""

from __future__ import annotations

from typing import NamedTuple


class Plan(NamedTuple):
    rounds: int
    #: One run of a load over raw sockets.
    seconds: float
    #: Records sent at a steady pace.
    paced_s: float
    #: Mixed load before the first run; Kafka's compiler needs it.
    warm_up_s: float
    #: Factor for the amounts that clients send and read.
    scale: float
    #: Size of the topic that consumers read.
    filled_bytes: int
    #: Size of the data of a killed broker.
    recovered_bytes: int
    #: Size of the log that is read from the disk: more than one run reads.
    cold_bytes: int
    starts: int
    #: Bytes through a topic with a tenth of them as `retention.bytes`.
    soak_bytes: int
    #: Updates of 100,000 keys.
    soak_updates: int


FULL = Plan(
    rounds=3,
    seconds=3,
    paced_s=6,
    warm_up_s=25,
    scale=1,
    filled_bytes=1_000_000_000,
    recovered_bytes=2_000_000_000,
    cold_bytes=5_000_000_000,
    starts=5,
    soak_bytes=10_000_000_000,
    soak_updates=10_000_000,
)
QUICK = Plan(
    rounds=1,
    seconds=0.8,
    paced_s=2,
    warm_up_s=6,
    scale=0.15,
    filled_bytes=150_000_000,
    recovered_bytes=200_000_000,
    cold_bytes=1_000_000_000,
    starts=1,
    soak_bytes=300_000_000,
    soak_updates=500_000,
)
