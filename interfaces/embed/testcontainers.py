"""OttlaContainer: the image of Ottla for testcontainers-python, which users install themselves."""

from __future__ import annotations

import time
from contextlib import closing
from http.client import HTTPException

from testcontainers.core.container import DockerContainer

from interfaces.embed.rest import Rest

KAFKA_PORT, INTERNAL_PORT, REST_PORT = 9092, 19092, 8082
_POLL_S = 0.05


class OttlaContainer(DockerContainer):
    """Records are in memory. Settings are environment variables: `with_env("KAFKA_...", ...)`.

    Containers of the same network connect to port 19092.
    """

    def __init__(self, image: str = "ottla", **options: object) -> None:
        super().__init__(image, **options)
        self.with_exposed_ports(KAFKA_PORT, REST_PORT)
        # The second listener is not advertised: its clients get the address they connected to.
        self.with_env("KAFKA_LISTENERS", f"PLAINTEXT://:{KAFKA_PORT},INTERNAL://:{INTERNAL_PORT}")
        self.with_env("OTTLA_STORAGE", "memory://")

    def start(self, timeout_s: float = 30.0) -> OttlaContainer:
        super().start()
        # The mapped port is known only now.
        self._advertise(f"PLAINTEXT://{self.get_bootstrap_server()}", timeout_s)
        return self

    def get_bootstrap_server(self) -> str:
        """The bootstrap.servers of clients on the host."""
        return self._mapped(KAFKA_PORT)

    def get_admin_url(self) -> str:
        return f"http://{self._mapped(REST_PORT)}"

    def _mapped(self, port: int) -> str:
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(port)}"

    def _advertise(self, listener: str, timeout_s: float) -> None:
        """Waits for REST, too; the config is in effect when it responds."""
        deadline = time.monotonic() + timeout_s
        path = ("brokers", "1", "configs", "advertised.listeners")
        with closing(Rest(self.get_admin_url(), "localhost")) as rest:
            while True:
                try:
                    return rest.put(*path, body={"value": listener})
                except (OSError, HTTPException) as failure:
                    if time.monotonic() > deadline:
                        raise TimeoutError(
                            f"Ottla is not ready after {timeout_s:g} s: {failure}"
                        ) from failure
                    time.sleep(_POLL_S)
