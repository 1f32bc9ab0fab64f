"""ClientQuotas: counts what clients use, and how long they are throttled for it.

Clients that share a quota share its sensor: all client ids of a user, if the quota is the user's.
While no quotas of clients exist, nothing is counted (`unlimited`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from math import inf
from weakref import WeakValueDictionary

from application.ports.clock import Clock
from domain.configs.broker import BrokerConfig
from domain.errors import ThrottlingQuotaExceeded
from domain.security.principal import Principal
from domain.security.quota import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    DEFAULT,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    QuotaEntity,
    Quotas,
    Scope,
    candidates,
)
from domain.security.rate import RateWindows, TokenBucket, WindowedRate

#: Clients (user and client id) that are counted; the least recently seen are dropped.
MAX_CLIENTS = 10_000
#: Of a client id; longer ones count as their beginning.
CLIENT_ID_CHARACTERS = 255
#: A client that sent no request for this time is dropped, as in Kafka.
IDLE_MS = 3_600_000
#: Percent of the loop's time, of nanoseconds in a second.
_PERCENT_PER_NS = 100 / 1e9

_NONE: Quotas = {}


class Sensor:
    """What the clients of one scope use of one quota."""

    __slots__ = ("__weakref__", "_throttled_ms", "_throttles", "_windows", "key", "rate", "scope")

    def __init__(self, key: str, scope: Scope, rate: WindowedRate | TokenBucket) -> None:
        self.key = key
        self.scope = scope
        self.rate = rate
        self._throttled_ms: WindowedRate | None = None
        self._throttles: WindowedRate | None = None

    def count(self, value: float, now_ms: int) -> int:
        """Returns the throttle time."""
        self.rate.record(value, now_ms)
        return self.rate.throttle_ms(now_ms)

    def throttled(self, throttle_ms: int, now_ms: int, windows: RateWindows) -> None:
        """For the metrics: a response had this throttle time."""
        if self._throttled_ms is None or self._throttles is None:
            self._throttled_ms = WindowedRate(windows, inf, now_ms)
            self._throttles = WindowedRate(windows, inf, now_ms)
        self._throttled_ms.record(throttle_ms, now_ms)
        self._throttles.record(1, now_ms)

    def throttle_time_ms(self, now_ms: int) -> float:
        """The mean of throttled responses, over the windows."""
        if self._throttled_ms is None or self._throttles is None:
            return 0.0
        throttles = self._throttles.rate(now_ms)
        return self._throttled_ms.rate(now_ms) / throttles if throttles else 0.0


class Client:
    """A user with a client id, and the sensors that count it; None: no quota."""

    __slots__ = ("fetch", "mutations", "produce", "request", "revision", "used_ms")

    def __init__(self) -> None:
        self.produce: Sensor | None = None
        self.fetch: Sensor | None = None
        self.request: Sensor | None = None
        self.mutations: Sensor | None = None
        self.revision = -1
        self.used_ms = 0


class MutationQuota:
    """Partitions that one request creates and deletes (KIP-599).

    `strict`: nothing is done while the client is over its quota. Requests of older versions are
    done, and throttled.
    """

    __slots__ = ("_clock", "_sensor", "_strict", "_windows", "throttle_ms")

    def __init__(
        self, sensor: Sensor | None, strict: bool, clock: Clock, windows: RateWindows
    ) -> None:
        self._windows = windows
        self._sensor = sensor
        self._strict = strict
        self._clock = clock
        self.throttle_ms = 0

    def record(self, partitions: int) -> None:
        """Raises ThrottlingQuotaExceeded."""
        if self._sensor is None:
            return
        rate, now_ms = self._sensor.rate, self._clock.monotonic_ms()
        if self._strict:
            self.throttle_ms = rate.throttle_ms(now_ms)
            if self.throttle_ms:
                raise ThrottlingQuotaExceeded
            rate.record(partitions, now_ms)
        else:
            self.throttle_ms = self._sensor.count(partitions, now_ms)

    def throttled(self) -> int:
        """The throttle time of the response, counted for the metrics."""
        if self._sensor is not None and self.throttle_ms:
            self._sensor.throttled(self.throttle_ms, self._clock.monotonic_ms(), self._windows)
        return self.throttle_ms


class ClientQuotas:
    def __init__(self, clock: Clock, config: BrokerConfig) -> None:
        self._clock = clock
        window_ms = config.quota_window_size_seconds * 1000
        self._windows = RateWindows(config.quota_window_num, window_ms)
        self._mutation_windows = RateWindows(
            config.controller_quota_window_num, config.controller_quota_window_size_seconds * 1000
        )
        #: All that are durable.
        self.quotas: dict[QuotaEntity, Quotas] = {}
        #: Users and client ids have no quotas: nothing is counted. Read once per response.
        self.unlimited = True
        #: That are no addresses.
        self._entities: set[QuotaEntity] = set()
        self._revision = 0
        self._of_addresses: dict[str, float] = {}
        #: Least recently used first.
        self._clients: OrderedDict[tuple[str, str], Client] = OrderedDict()
        #: Held by the clients that they count.
        self._sensors: WeakValueDictionary[tuple[str, Scope], Sensor] = WeakValueDictionary()

    # ---- the quotas

    def load(self, quotas: Mapping[QuotaEntity, Quotas]) -> None:
        for entity, values in quotas.items():
            self.put(entity, values)

    def put(self, entity: QuotaEntity, quotas: Quotas) -> None:
        """Replaces all quotas of the entity; what its clients have used still counts."""
        self.quotas.pop(entity, None)
        if quotas:
            self.quotas[entity] = quotas
        if entity.ip is not None:
            self._put_address(entity.ip, quotas)
            return
        self._revision += 1
        self._entities.discard(entity)
        if quotas:
            self._entities.add(entity)
        self.unlimited = not self._entities
        if self.unlimited:
            self._clients.clear()

    def _put_address(self, name: str, quotas: Quotas) -> None:
        address = str(ip_address(name)) if name else DEFAULT
        self._of_addresses.pop(address, None)
        if quotas:
            self._of_addresses[address] = quotas[CONNECTION_CREATION_RATE]

    def connection_rate(self, address: str) -> float:
        """Connections per second from this address; infinite without a quota."""
        rates = self._of_addresses
        if not rates:
            return inf
        rate = rates.get(address)
        return rates.get(DEFAULT, inf) if rate is None else rate

    # ---- use

    def count(
        self,
        principal: Principal,
        client_id: str | None,
        thread_ns: int,
        produced_bytes: int = 0,
        fetched_bytes: int = 0,
        least_ms: int = 0,
    ) -> int:
        """Counts one request when its response is complete; returns the throttle time.

        `least_ms`: of a quota that is counted already.
        Fetched bytes of a throttled request do not count: its response is sent without records.
        """
        client, now_ms = self._client(principal.name, client_id)
        by = None
        throttle_ms = 0
        if thread_ns and client.request is not None:
            by = client.request
            throttle_ms = min(
                by.count(thread_ns * _PERCENT_PER_NS, now_ms), self._windows.window_ms
            )
        if fetched_bytes and client.fetch is not None:
            # A batch that is larger than all windows allow is sent in an idle moment.
            fetched_bytes = min(fetched_bytes, int(_most_in_windows(client.fetch)))
        bytes_of = (client.produce, produced_bytes), (client.fetch, fetched_bytes)
        for sensor, size_bytes in bytes_of:
            if size_bytes and sensor is not None:
                bandwidth_ms = sensor.count(size_bytes, now_ms)
                if bandwidth_ms > throttle_ms:
                    by, throttle_ms = sensor, bandwidth_ms
        if throttle_ms and by is not None:
            by.throttled(throttle_ms, now_ms, self._windows)
            if fetched_bytes and client.fetch is not None:
                client.fetch.rate.record(-fetched_bytes, now_ms)
        return max(throttle_ms, least_ms)

    def most_fetched_bytes(self, principal: Principal, client_id: str | None) -> float:
        """More would be throttled even if nothing was fetched before."""
        fetch = self._client(principal.name, client_id)[0].fetch
        return inf if fetch is None else _most_in_windows(fetch)

    def mutations(self, principal: Principal, client_id: str | None, strict: bool) -> MutationQuota:
        sensor = None
        if not self.unlimited:
            sensor = self._client(principal.name, client_id)[0].mutations
        return MutationQuota(sensor, strict, self._clock, self._windows)

    def sensors(self) -> Iterator[tuple[Sensor, float, float]]:
        """Each with its rate (of mutations: the tokens left) and its throttle time."""
        now_ms = self._clock.monotonic_ms()
        self._drop_idle(now_ms)
        for sensor in list(self._sensors.values()):
            yield sensor, sensor.rate.rate(now_ms), sensor.throttle_time_ms(now_ms)

    # ---- clients

    def _client(self, user: str, client_id: str | None) -> tuple[Client, int]:
        now_ms = self._clock.monotonic_ms()
        key = user, client_id[:CLIENT_ID_CHARACTERS] if client_id else ""
        client = self._clients.get(key)
        if client is None:
            self._drop_idle(now_ms)
            client = self._clients[key] = Client()
        else:
            self._clients.move_to_end(key)
        client.used_ms = now_ms
        if client.revision != self._revision:
            self._find_sensors(client, Scope(*key), now_ms)
        return client, now_ms

    def _drop_idle(self, now_ms: int) -> None:
        """Also makes room for one more."""
        clients = self._clients
        while clients:
            oldest = next(iter(clients.values()))
            if len(clients) < MAX_CLIENTS and now_ms - oldest.used_ms < IDLE_MS:
                return
            clients.popitem(last=False)

    def _find_sensors(self, client: Client, named: Scope, now_ms: int) -> None:
        client.revision = self._revision
        client.produce = self._sensor(PRODUCER_BYTE_RATE, named, now_ms)
        client.fetch = self._sensor(CONSUMER_BYTE_RATE, named, now_ms)
        client.request = self._sensor(REQUEST_PERCENTAGE, named, now_ms)
        client.mutations = self._sensor(CONTROLLER_MUTATION_RATE, named, now_ms)

    def _sensor(self, key: str, named: Scope, now_ms: int) -> Sensor | None:
        found = ((one, scope) for one, scope in candidates(*named) if key in self._of(one))
        entity, scope = next(found, (None, named))
        if entity is None:
            return None
        bound = self.quotas[entity][key]
        sensor = self._sensors.get((key, scope))
        if sensor is None:
            sensor = self._sensors[key, scope] = Sensor(key, scope, self._rate(key, bound, now_ms))
        sensor.rate.bound = bound
        return sensor

    def _of(self, entity: QuotaEntity) -> Quotas:
        return self.quotas.get(entity, _NONE)

    def _rate(self, key: str, bound: float, now_ms: int) -> WindowedRate | TokenBucket:
        if key == CONTROLLER_MUTATION_RATE:
            return TokenBucket(self._mutation_windows, bound, now_ms)
        return WindowedRate(self._windows, bound, now_ms)


def _most_in_windows(fetch: Sensor) -> float:
    assert isinstance(fetch.rate, WindowedRate)
    return fetch.rate.most_in_windows
