"""docs/apis.md, written from table and handlers: `python -m interfaces.kafka.docs`."""

from __future__ import annotations

from collections.abc import Iterable

from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.wire.schema import Message

_HEAD = """\
# APIs

Written by `python -m interfaces.kafka.docs` from `interfaces/kafka/requests/apis.py` and the
handlers; change those, not this.

*Advertised* is what ApiVersions tells a client, *served* is what works. They differ in one row, as
they do in Kafka: librdkafka looks for Produce 0 and never sends it. *In Kafka 4.2* are the versions
that Kafka's own messages have. A request of any other API or version closes its connection, as in
Kafka; only an ApiVersions of an unknown version is answered, in version 0 with code 35.
"""

_CARDS = """
## What each version brings

The first lines of each file in `interfaces/kafka/handlers/`.
"""


def render() -> str:
    return "\n".join(
        [
            *(_HEAD, *_served()),
            *(_CARDS, *(line for api in APIS for line in _card(api))),
        ]
    )


def _served() -> Iterable[str]:
    yield "| key | API | advertised | served | flexible from | in Kafka 4.2 |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for api in APIS:
        request: type[Message] = getattr(api.messages(), f"{api.title}Request")
        versions = (
            _span(api.min_version, api.max_version),
            _span(api.first_served, api.max_version),
            _flexible(request),
            _span(request.min_version, request.max_version),
        )
        yield f"| {api.key} | [{api.title}](#{api.title.lower()}) | {' | '.join(versions)} |"


def _card(api: Api) -> Iterable[str]:
    card = (api.handler().__doc__ or "").rstrip()
    yield f"### {api.title}\n\n```text\n{card}\n```\n"


def _flexible(request: type[Message]) -> str:
    return "never" if request.flexible_from is None else str(request.flexible_from)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


if __name__ == "__main__":
    print(render(), end="")
