"""The pytest plugin: brokers for tests, which run until the end of the session.

There is one for each set of settings that tests are marked with. With pytest-xdist each worker has
its own brokers.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.embed.admin import Admin
from interfaces.embed.broker import Broker
from interfaces.embed.process import BrokerNotStarted, as_setting

if TYPE_CHECKING:
    from concurrent.futures import Future

MARKER = (
    "ottla(settings={}, partitions=1, configs={}): settings of the broker of this test; "
    "partitions and configs of ottla_topic"
)
#: At most so many lines of the log, and so many requests, are in the report of a failed test.
LINES = 30


#: Of a broker: pairs of name and text.
Settings = tuple[tuple[str, str], ...]


class Brokers:
    def __init__(self) -> None:
        self._started: dict[Settings, Future[Broker]] = {}

    def start(self, settings: Settings) -> Future[Broker]:
        """In a thread, once."""
        from concurrent.futures import ThreadPoolExecutor

        if settings not in self._started:
            executor = ThreadPoolExecutor(1, "ottla")
            self._started[settings] = executor.submit(_started, settings)
            executor.shutdown(wait=False)
        return self._started[settings]

    def close(self) -> None:
        with ExitStack() as stack:
            for started in self._started.values():
                if started.exception() is None:  # else the tests have failed with it
                    stack.callback(started.result().close)


BROKERS = pytest.StashKey[Brokers]()
BEGUN = pytest.StashKey[float]()
_numbers = count(1)


@pytest.fixture(scope="session")
def ottla_broker(request: pytest.FixtureRequest) -> Broker:
    """A running `ottla.Broker`; tests with the same settings share it."""
    settings = getattr(request, "param", ())
    try:
        return request.config.stash[BROKERS].start(settings).result()
    except BrokerNotStarted as failure:
        pytest.fail(f"the broker {failure}", pytrace=False)


@pytest.fixture
def ottla_admin(ottla_broker: Broker) -> Admin:
    """Topics, groups, offsets and configs of `ottla_broker`."""
    return ottla_broker.admin


@pytest.fixture
def ottla_topic(request: pytest.FixtureRequest, ottla_admin: Admin) -> Iterator[str]:
    """The name of a new topic, which is deleted after the test."""
    options = _options(request.node)
    name = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:200]
    topic = f"{name}-{next(_numbers)}"
    ottla_admin.create_topic(topic, options["partitions"], options["configs"])
    yield topic
    if topic in ottla_admin.topics():
        ottla_admin.delete_topic(topic)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    config.stash[BROKERS] = Brokers()


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[BROKERS].close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    options = _options(metafunc.definition)
    settings = tuple(
        sorted((name, as_setting(value)) for name, value in options["settings"].items())
    )
    if settings and "ottla_broker" in metafunc.fixturenames:
        metafunc.parametrize(
            "ottla_broker", [settings], indirect=True, ids=[pytest.HIDDEN_PARAM], scope="session"
        )


def pytest_collection_finish(session: pytest.Session) -> None:
    """The first broker starts while other tests run."""
    if session.config.option.collectonly:
        return
    for item in session.items:
        if "ottla_broker" in getattr(item, "fixturenames", ()):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            session.config.stash[BROKERS].start(parameters.get("ottla_broker", ()))
            return


def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEGUN] = int(time.time() * 1000) / 1000


def _started(settings: Settings) -> Broker:
    broker = Broker(settings=dict(settings))
    broker.start()
    try:
        broker.rest.prepare()
    except (RuntimeError, OSError) as failure:
        broker.close()
        raise BrokerNotStarted(f"does not serve REST: {failure}") from None
    return broker


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    broker = getattr(item, "funcargs", {}).get("ottla_broker")
    if report.failed and isinstance(broker, Broker):
        report.sections += sections_of(broker, item.stash[BEGUN])
    return report


def _options(node: pytest.Item) -> dict[str, Any]:
    """The closest marker wins."""
    options: dict[str, Any] = {"settings": {}, "partitions": 1, "configs": {}}
    for marker in reversed(list(node.iter_markers("ottla"))):
        unknown = [*map(repr, marker.args), *(marker.kwargs.keys() - options.keys())]
        if unknown:
            raise pytest.UsageError(f"{node.nodeid}: mark.ottla has no option {unknown[0]}")
        options |= marker.kwargs
    return options


def sections_of(broker: Broker, since: float) -> list[tuple[str, str]]:
    """Of a report. A test may have closed or killed the broker."""
    from http.client import HTTPException

    sections = []
    for title, read in ("log", _log), ("last requests", _requests):
        try:
            text = read(broker, since)
        except (OSError, RuntimeError, HTTPException) as failure:
            text = f"not available: {failure}"
        sections.append((f"{title} of the broker", text))
    return sections


def _log(broker: Broker, since: float) -> str:
    lines = broker.log().splitlines()[-LINES:]
    return "\n".join(line for line in lines if _is_since(line, since))


def _is_since(line: str, since: float) -> bool:
    """Also a line of a traceback, and the newest, of which the broker may have written half."""
    if not line.startswith("{"):
        return True
    try:
        event = json.loads(line)
    except ValueError:
        return True
    return _time_of(event) >= since


def _time_of(event: dict[str, Any]) -> float:
    """In milliseconds, which are cut off."""
    return datetime.fromisoformat(event["time"]).timestamp()


def _requests(broker: Broker, since: float) -> str:
    newest = broker.rest.items("requestz", limit=LINES)
    return "\n".join(_request(one) for one in newest[::-1] if _time_of(one) >= since)


def _request(one: dict[str, Any]) -> str:
    version = one["version"]  # None: of HTTP
    api = one["api"] if version is None else f"{one['api']} v{version}"
    about = [one[field] for field in ("topic", "group") if field in one]
    return "  ".join(
        [one["time"], one["client_id"] or "", api, *about, f"{one['total_us']} us", *one["errors"]]
    )
