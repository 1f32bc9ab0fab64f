"""`ottla generate`: a dashboard, what Prometheus is to be told, and files to run the broker by."""

from __future__ import annotations

from collections.abc import Callable

from interfaces.cli.failures import NotUnderstood
from interfaces.terminal.addresses import Address, addresses

#: What each is made by, from HOST:PORT of the admin side.
Make = Callable[[str], str]


def grafana(_admin: str) -> str:
    from interfaces.cli.generate_grafana import dashboard

    return dashboard()


def prometheus(admin: str) -> str:
    from interfaces.cli.generate_prometheus import scrape_config

    return scrape_config(_address(admin))


def alerts(_admin: str) -> str:
    from interfaces.cli.generate_prometheus import alert_rules

    return alert_rules()


def systemd(admin: str) -> str:
    from interfaces.cli.generate_services import systemd_unit

    return systemd_unit(admin)


def compose(_admin: str) -> str:
    from interfaces.cli.generate_services import compose_file

    return compose_file()


def _address(admin: str) -> Address:
    """Of something that can be connected to, with its port: no other is usual there."""
    try:
        [found] = addresses(admin)
    except ValueError:
        found = None
    if found is None or str(found) != admin:
        raise NotUnderstood(f"--admin: expected HOST:PORT, where the metrics are, not {admin!r}")
    return found


MAKE: dict[str, Make] = {
    "grafana": grafana,
    "prometheus": prometheus,
    "alerts": alerts,
    "systemd": systemd,
    "compose": compose,
}
