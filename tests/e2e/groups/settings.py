"""What a broker needs so that its groups soon notice that a member is gone."""

from __future__ import annotations

SETTINGS = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 100,
    "group.consumer.min.session.timeout.ms": 500,
    "group.consumer.session.timeout.ms": 2000,
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 200,
}
ARGUMENTS = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
