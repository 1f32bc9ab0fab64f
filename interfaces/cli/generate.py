"""`ottla generate`: a dashboard, configs of Prometheus, and files that run the broker."""

from __future__ import annotations

from collections.abc import Callable

from interfaces.cli.failures import UsageError
from interfaces.cli.generate_grafana import dashboard
from interfaces.cli.generate_prometheus import alert_rules, scrape_config
from interfaces.cli.generate_services import compose_file, systemd_unit
from interfaces.terminal.addresses import Address, addresses

#: From HOST:PORT of the admin side.
MAKE: dict[str, Callable[[str], str]] = {
    "grafana": lambda _: dashboard(),
    "prometheus": lambda admin: scrape_config(_address(admin)),
    "alerts": lambda _: alert_rules(),
    "systemd": systemd_unit,
    "compose": lambda _: compose_file(),
}


def _address(admin: str) -> Address:
    """Raises UsageError without an explicit port."""
    try:
        [found] = addresses(admin)
    except ValueError:
        found = None
    if found is None or str(found) != admin:
        raise UsageError(f"--admin: expected HOST:PORT of the metrics, not {admin!r}")
    return found
