from __future__ import annotations

import re

from interfaces.kafka.docs import render
from interfaces.kafka.requests.apis import APIS

PAGE = render()
KEYS = [int(key) for key in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)]


def test_every_api_has_one_row() -> None:
    assert [api.key for api in APIS] == KEYS


def test_every_served_api_has_its_card() -> None:
    cards = re.findall(r"^### (\w+)\n\n```text\n\1 \(key (\d+)\)", PAGE, re.MULTILINE)
    assert [(title, int(key)) for title, key in cards] == [(api.title, api.key) for api in APIS]
