"""Writes docs/apis.md from the table and the handlers: `python -m interfaces.kafka.docs`."""

from __future__ import annotations

from collections.abc import Iterable

from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.wire.schema import Message

_HEAD = """\
# APIs

<!-- written by scripts/docs from interfaces/kafka/requests/apis.py and the handlers -->

*Advertised* are the versions in the ApiVersions response, *served* those that work. They differ for
Produce only, as in Kafka: librdkafka requires Produce 0 and never sends it. *In Kafka 4.2* are the
versions of Kafka's own messages. A request of another API or version closes the connection, as in
Kafka; only an unknown version of ApiVersions gets a response, in version 0 with error 35.
"""

_CARDS = """
## What each version brings
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
