"""A bucket behind a relay that fails: what is sent again, what is reported, and how soon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.bucket import Bucket, Limits
from infrastructure.storage.objects.errors import ObjectsFailed
from tests.fakes.http_relay import HttpRelay
from tests.fakes.s3 import S3Server, environment_of

DATA = b"0123456789"
#: Tests wait for 0.4 and 0.2, and not for 20.
STALLED = Limits(request_s=0.4, retry_s=0.2, pause_s=0.01, longest_pause_s=0.05)
SHORT = Limits(request_s=20, retry_s=0.2, pause_s=0.01, longest_pause_s=0.05)
LONG = Limits(request_s=20, retry_s=20, pause_s=0.01, longest_pause_s=0.05)

Call = Callable[[Bucket], object]
CALLS: dict[str, Call] = {
    "put": lambda bucket: bucket.put("a", DATA),
    "put_soon": lambda bucket: bucket.put_soon("a", DATA),
    "read": lambda bucket: bucket.read("a", 0, 10),
    "delete": lambda bucket: bucket.delete(["b"]),
    "names": lambda bucket: list(bucket.names()),
}


@pytest.fixture
def relay(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpRelay]:
    relay = HttpRelay(s3.port)
    for name, value in environment_of(relay.endpoint).items():
        monkeypatch.setenv(name, value)
    yield relay
    relay.close()


@pytest.fixture
def address(s3: S3Server, relay: HttpRelay) -> ObjectsAddress:
    """With one object."""
    address = ObjectsAddress(s3.new_bucket(), "x")
    Bucket(address).put("a", DATA)
    relay.requests.clear()
    return address


@pytest.fixture
def stalled(address: ObjectsAddress) -> Bucket:
    return Bucket(address, STALLED, STALLED, STALLED)


@pytest.fixture
def short(address: ObjectsAddress) -> Bucket:
    return Bucket(address, SHORT, SHORT, SHORT)


@pytest.fixture
def long(address: ObjectsAddress) -> Bucket:
    return Bucket(address, LONG, LONG, LONG)


@pytest.fixture(params=CALLS.values(), ids=CALLS.keys())
def call(request: pytest.FixtureRequest) -> Call:
    chosen: Call = request.param
    return chosen


def failure(call: Call, bucket: Bucket) -> str:
    """Within its limits."""
    started = time.monotonic()
    with pytest.raises(ObjectsFailed) as failed:
        call(bucket)
    assert time.monotonic() - started < 5
    return str(failed.value)


@pytest.mark.parametrize("status, code", [(503, "SlowDown"), (500, "InternalError")])
def test_a_request_that_was_refused_for_now_is_sent_again(
    relay: HttpRelay, long: Bucket, call: Call, status: int, code: str
) -> None:
    relay.respond(status, code, times=3)
    call(long)
    assert len(relay.requests) >= 4


def test_a_request_on_a_connection_that_was_closed_is_sent_again(
    relay: HttpRelay, long: Bucket, call: Call
) -> None:
    call(long)
    # The pooled connections are cut.
    relay.refuse()
    relay.accept()
    call(long)


def test_a_response_that_was_cut_is_read_again(relay: HttpRelay, long: Bucket) -> None:
    relay.cut(times=3)
    assert long.read("a", 2, 6) == DATA[2:8]
    assert len(relay.requests) == 4


def test_a_server_that_stalls_is_asked_again(relay: HttpRelay, address: ObjectsAddress) -> None:
    relay.hold(times=1)
    bucket = Bucket(address, Limits(request_s=0.4, retry_s=20, pause_s=0.01, longest_pause_s=0.05))
    assert bucket.read("a", 0, 10) == DATA
    assert len(relay.requests) >= 2


def test_a_lost_response_to_a_write_is_harmless(relay: HttpRelay, long: Bucket) -> None:
    relay.lose(times=1)
    long.put("b", DATA)
    assert long.read("b", 0, 10) == DATA


@pytest.mark.long
@pytest.mark.parametrize("is_open", [False, True])
def test_a_read_from_a_bucket_that_is_away_fails_while_a_consumer_waits(
    relay: HttpRelay, address: ObjectsAddress, is_open: bool
) -> None:
    """It refuses connections, or responds to nothing."""
    if is_open:
        relay.hold()
    else:
        relay.refuse()
    started = time.monotonic()
    with pytest.raises(ObjectsFailed, match=r"cannot be reached|did not respond in time"):
        Bucket(address).read("a", 0, 10)
    assert time.monotonic() - started < 10


def test_a_server_that_refuses_for_long_is_reported(
    relay: HttpRelay, short: Bucket, call: Call
) -> None:
    relay.respond(503, "SlowDown")
    assert failure(call, short).endswith(": SlowDown: as armed")


def test_a_server_that_is_away_is_reported(relay: HttpRelay, short: Bucket, call: Call) -> None:
    relay.refuse()
    expected = f"{relay.endpoint} cannot be reached: Connection refused"
    assert failure(call, short).endswith(expected)


def test_a_server_that_is_silent_is_reported(relay: HttpRelay, stalled: Bucket, call: Call) -> None:
    relay.hold()
    assert failure(call, stalled).endswith(f": {relay.endpoint} did not respond in time")


def test_responses_that_are_always_cut_are_reported(relay: HttpRelay, short: Bucket) -> None:
    relay.cut()
    assert "/a cannot be read: " in failure(CALLS["read"], short)


def test_a_response_that_comes_too_slowly_is_reported(relay: HttpRelay, stalled: Bucket) -> None:
    relay.drip(pause_s=0.1)
    assert "/a cannot be read: " in failure(CALLS["read"], stalled)


def test_a_bucket_works_after_a_failure(relay: HttpRelay, short: Bucket) -> None:
    relay.respond(503, "SlowDown")
    failure(CALLS["read"], short)
    relay.pass_all()
    assert short.read("a", 0, 10) == DATA


def test_the_check_refuses_a_server_that_is_away(relay: HttpRelay, short: Bucket) -> None:
    relay.refuse()
    with pytest.raises(StorageUnusable, match="cannot be reached"):
        short.check()


@pytest.mark.parametrize(
    "method, right", [("PUT", "written"), ("GET", "read"), ("POST", "deleted")]
)
def test_the_check_names_the_right_that_is_missing(
    relay: HttpRelay, long: Bucket, method: str, right: str
) -> None:
    relay.respond(403, "AccessDenied", only=method)
    with pytest.raises(StorageUnusable, match=f"cannot be {right}: access denied"):
        long.check()


def test_the_check_leaves_nothing_in_a_bucket_that_it_may_not_read(
    relay: HttpRelay, long: Bucket
) -> None:
    relay.respond(403, "AccessDenied", only="GET")
    with pytest.raises(StorageUnusable, match="cannot be read"):
        long.check()
    relay.pass_all()
    assert [name for name, _ in long.names()] == ["a"]
