"""How rates of quotas are measured."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

INT = Kind.INT


class QuotaSettings:
    quota_window_num: int = setting(
        "quota.window.num",
        INT,
        11,
        "The number of windows over which the rates of quotas are measured.",
        minimum=1,
    )
    quota_window_size_seconds: int = setting(
        "quota.window.size.seconds",
        INT,
        1,
        "The time span of each window; also the longest throttle time of request_percentage.",
        minimum=1,
        unit="s",
    )
    controller_quota_window_num: int = setting(
        "controller.quota.window.num",
        INT,
        11,
        "The number of windows whose controller_mutation_rate may be used in one burst.",
        minimum=1,
    )
    controller_quota_window_size_seconds: int = setting(
        "controller.quota.window.size.seconds",
        INT,
        1,
        "The time span of each window for controller_mutation_rate.",
        minimum=1,
        unit="s",
    )
