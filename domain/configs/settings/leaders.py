"""Leaders of partitions, where several brokers share a store."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class LeaderSettings:
    auto_leader_rebalance_enable: bool = setting(
        "auto.leader.rebalance.enable",
        BOOLEAN,
        True,
        "Whether partitions return to their preferred leaders, where several brokers share a "
        "store.",
    )
    leader_imbalance_check_interval_seconds: int = setting(
        "leader.imbalance.check.interval.seconds",
        LONG,
        300,
        "How often, where several brokers share a store.",
        minimum=1,
    )
