"""Whether an Ottla broker can serve clients, by /readyz: for the health check of a container.

Kafka's own requests would go to the advertised address, which a container may not reach.
"""

from __future__ import annotations

import http.client
import json

from interfaces.terminal.reachable import reason_of


def problems(admin: str, timeout_s: float) -> list[str]:
    """Of the broker whose REST is at HOST:PORT; none if it is ready."""
    connection = http.client.HTTPConnection(admin, timeout=timeout_s)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        checks = json.loads(response.read())["checks"]
    except (OSError, http.client.HTTPException) as failure:
        return [f"{admin}: {reason_of(failure)}"]
    except (ValueError, KeyError, TypeError):
        return [f"{admin} is not the REST side of an Ottla broker"]
    finally:
        connection.close()
    return [f"{one['name']}: {one['reason']}" for one in checks if one["status"] != "up"]
