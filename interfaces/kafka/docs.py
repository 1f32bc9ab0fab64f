"""docs/apis.md, written from table and handlers: `python -m interfaces.kafka.docs`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from interfaces.kafka.requests.apis import APIS, Api, title_of
from interfaces.kafka.wire import messages
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

_LATER = """
## Not served

The codec has these messages as well, in every version; the handlers come later. They are not
advertised. [skipped.md](skipped.md) says what is never going to be served.
"""

_CARDS = """
## What each version brings

The first lines of each file in `interfaces/kafka/handlers/`.
"""


def render() -> str:
    return "\n".join(
        [
            *(_HEAD, *_served()),
            *(_LATER, *_not_served()),
            *(_CARDS, *(line for api in APIS for line in _card(api))),
        ]
    )


def _served() -> Iterable[str]:
    yield "| key | API | advertised | served | flexible from | in Kafka 4.2 |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for api in APIS:
        request = _request(api.name)
        versions = (
            _span(api.min_version, api.max_version),
            _span(api.first_served, api.max_version),
            _flexible(request),
            _span(request.min_version, request.max_version),
        )
        yield f"| {api.key} | [{api.title}](#{api.title.lower()}) | {' | '.join(versions)} |"


def _not_served() -> Iterable[str]:
    yield "| key | API | flexible from | in Kafka 4.2 |"
    yield "| --- | --- | --- | --- |"
    served = {api.name for api in APIS}
    names = [found.name for found in iter_modules(messages.__path__) if found.name not in served]
    requests = [_request(name) for name in names]
    for request in sorted(requests, key=lambda one: one.api_key):
        title = request.__name__.removesuffix("Request")
        versions = _span(request.min_version, request.max_version)
        yield f"| {request.api_key} | {title} | {_flexible(request)} | {versions} |"


def _card(api: Api) -> Iterable[str]:
    card = (api.handler().__doc__ or "").rstrip()
    yield f"### {api.title}\n\n```text\n{card}\n```\n"


def _request(name: str) -> type[Message]:
    module = import_module(f".{name}", messages.__name__)
    request: type[Message] = getattr(module, f"{title_of(name)}Request")
    return request


def _flexible(request: type[Message]) -> str:
    return "never" if request.flexible_from is None else str(request.flexible_from)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


if __name__ == "__main__":
    print(render(), end="")
