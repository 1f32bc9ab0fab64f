"""For any bytes, a session sends a response or closes its connection, and never raises."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interfaces.kafka.requests.apis import APIS, BY_KEY
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from tests.fakes.client import FakeKafka, frame, raw_frame
from tests.fakes.plain_requests import REQUESTS

VERSIONS = [
    (api.name, version) for api in APIS for version in range(api.first_served, api.max_version + 1)
]
VALID = st.sampled_from(VERSIONS).map(lambda row: frame(REQUESTS[row[0]](row[1]), row[1]))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A valid frame of which some bytes are others; its length stays what it says."""
    data = bytearray(draw(VALID))
    for _ in range(draw(st.integers(1, 4))):
        data[draw(st.integers(12, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data)


@st.composite
def cut(draw: st.DrawFn) -> bytes:
    """The head of a valid body in a frame of its own."""
    name, version = draw(st.sampled_from(VERSIONS))
    request = REQUESTS[name](version)
    body = b"".join(request.encode(version))
    end = draw(st.integers(0, len(body)))
    flexible = request.is_flexible(version)
    return raw_frame(request.api_key, version, body[:end], flexible=flexible)


@st.composite
def random_body(draw: st.DrawFn) -> bytes:
    key = draw(st.sampled_from(sorted(BY_KEY)))
    version = draw(st.integers(-1, BY_KEY[key].max_version + 1))
    return raw_frame(key, version, draw(st.binary(max_size=120)), flexible=draw(st.booleans()))


BYTES = st.lists(
    st.one_of(VALID, mutated(), cut(), random_body(), st.binary(max_size=60)),
    min_size=1,
    max_size=6,
)


@given(BYTES, st.integers(1, 200))
def test_any_bytes_get_a_response_or_close_their_connection_only(
    parts: list[bytes], chunk: int
) -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    client, other = kafka.client(), kafka.client()
    client.transport.receive(b"".join(parts), at_most=chunk)
    kafka.scheduler.advance(2**31)
    client.frames()
    assert kafka.events.of("request_failed") == []
    assert other.request(MetadataRequest(topics=[]), 12).topics == []
    assert client.closed == bool(client.why_closed())
    client.transport.drop()
    kafka.run()
    assert (kafka.shared.memory.used_bytes, len(kafka.shared.sessions)) == (0, 1)


@given(st.lists(st.sampled_from(VERSIONS), min_size=1, max_size=8), st.integers(1, 300))
def test_any_chunks_get_the_responses_of_one_chunk(rows: list[tuple[str, int]], chunk: int) -> None:
    """The order is that of the requests, and nothing of a request is lost at a chunk's end."""
    sent = b"".join(
        frame(REQUESTS[name](version), version, correlation_id)
        for correlation_id, (name, version) in enumerate(rows)
    )
    responses = []
    for at_most in (len(sent), chunk):
        kafka = FakeKafka()
        client = kafka.client()
        client.transport.receive(sent, at_most=at_most)
        kafka.scheduler.advance(2**31)
        responses.append([int.from_bytes(one[:4], "big") for one in client.frames()])
        assert not client.closed
    assert responses == [list(range(len(rows)))] * 2
