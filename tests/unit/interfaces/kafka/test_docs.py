from __future__ import annotations

import re
from pkgutil import iter_modules

from interfaces.kafka.docs import render
from interfaces.kafka.requests.apis import APIS
from interfaces.kafka.wire import messages

PAGE = render()
KEYS = [int(key) for key in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)]


def test_every_message_has_one_row_and_those_that_are_served_come_first() -> None:
    assert KEYS[: len(APIS)] == [api.key for api in APIS]
    assert len(KEYS) == len(set(KEYS)) == len(list(iter_modules(messages.__path__)))


def test_every_api_that_is_served_has_its_card() -> None:
    cards = re.findall(r"^### (\w+)\n\n```text\n\1 \(key (\d+)\)", PAGE, re.MULTILINE)
    assert [(title, int(key)) for title, key in cards] == [(api.title, api.key) for api in APIS]
