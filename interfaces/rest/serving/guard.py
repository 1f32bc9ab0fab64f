"""Guard: refuses requests that a web page of another origin makes a browser send.

Such a page can point a name of its own at this address (DNS rebinding), and can send simple
requests to it (CSRF). So the Host has to be a name of this server, and a request that changes
something has to come from no page or from a page of this server, with JSON as its body. Such a
page can load nothing from here either: the work alone would cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address

from domain.configs.broker import BrokerConfig
from domain.configs.listeners import parse_addresses
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import SAFE

#: A page of another origin may link to them.
_PAGES = frozenset({"/", "/docs", "/login"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
JSON = "application/json"


def allowed_hosts(config: BrokerConfig) -> list[str]:
    """DNS rebinding needs a name of the attacker: the names that clients are directed to are those
    of the operator."""
    advertised = parse_addresses(config.advertised_listeners).values()
    return [*config.admin_allowed_hosts, *(one.host for one in advertised)]


class Guard:
    def __init__(
        self, listening: Iterable[str], allowed: Iterable[str], origins: Iterable[str]
    ) -> None:
        """`listening`: the hosts of the admin listeners; an empty one is every address.

        `origins`: whose pages may do everything; `*`: all pages.
        """
        hosts = {host.lower() for host in listening}
        self._everywhere = not hosts.isdisjoint({"", "0.0.0.0", "::"})
        self._hosts = _LOOPBACK | hosts | {host.lower() for host in allowed}
        self._origins = frozenset(origins)

    def check(self, method: str, path: str, headers: dict[str, str], bodiless: bool) -> None:
        """Raises RestError."""
        host = headers.get("host")
        # Browsers always send one. HTTP/1.0, as in probes of load balancers, needs none.
        if host is not None and not self._is_known(host):
            raise RestError(
                403,
                f"Host {host!r} is not allowed; add it to admin.allowed.hosts",
                40303,
            )
        origin = headers.get("origin")
        if origin is not None and not self._origins.isdisjoint({origin, "*"}):
            origin, site = None, "same-origin"
        else:
            site = headers.get("sec-fetch-site", "none")
        is_cross_origin = site not in ("none", "same-origin")
        if method in SAFE:
            if is_cross_origin and not (path in _PAGES and _is_visit(headers)):
                raise RestError(403, "pages of another origin cannot load this", 40304)
            return
        if origin is not None and not _same(origin, host):
            raise RestError(403, f"pages of {origin!r} cannot make changes", 40304)
        if is_cross_origin:
            raise RestError(403, "pages of another origin cannot make changes", 40304)
        if not bodiless and not _is_json(headers.get("content-type", "")):
            raise RestError(415, f"expected Content-Type: {JSON}")

    def _is_known(self, host: str) -> bool:
        name = host_name(host)
        if name in self._hosts:
            return True
        # DNS rebinding needs a name.
        return self._everywhere and _is_address(name)


def host_name(host: str) -> str:
    """Without the port, and the brackets of IPv6."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _is_visit(headers: dict[str, str]) -> bool:
    """The user follows a link; no frame loads it."""
    return (
        headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
    )


def _same(origin: str, host: str | None) -> bool:
    scheme, separator, authority = origin.lower().partition("://")
    is_http = bool(separator) and scheme in ("http", "https")
    return is_http and host is not None and authority == host.lower()


def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == JSON


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
