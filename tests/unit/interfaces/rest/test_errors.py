from __future__ import annotations

import ast
import re
from pathlib import Path

from domain import errors
from domain.errors import BrokerError
from interfaces.rest.errors import REFUSALS, message_of, phrase


def tree(error: type[BrokerError]) -> set[type[BrokerError]]:
    below = {one for one in error.__subclasses__() if one.__module__ == errors.__name__}
    return below.union(*(tree(one) for one in below))


def test_every_error_of_the_domain_has_a_status_and_a_code() -> None:
    assert REFUSALS.keys() == {BrokerError, *tree(BrokerError)}


def test_a_code_begins_with_its_status() -> None:
    for (status, code), _ in REFUSALS.values():
        assert 400 <= status < 600
        assert code // 100 == status


def test_every_error_without_words_is_told_in_a_sentence() -> None:
    for kind in REFUSALS:
        words = message_of(kind())
        assert " " in words and words.endswith("."), kind
    assert message_of(errors.NonEmptyGroup()) == "The group has members; stop them first."
    assert message_of(errors.GroupIdNotFound("no such group")) == "no such group"


def test_a_status_alone_is_worded_as_confluents_server_does() -> None:
    assert phrase(404) == "HTTP 404 Not Found"


ROOT = Path(__file__).parents[4]
#: Of uvicorn and Starlette: not HTTP, unknown path, unknown method.
_OF_SERVERS = {400, 404, 405}


def test_the_page_has_every_code_and_no_other() -> None:
    told = set(_OF_SERVERS)
    for path in (ROOT / "interfaces/rest").rglob("*.py"):
        text = path.read_text("utf-8")
        told |= {int(code) for code in re.findall(r"\b[45][0-9]{4}\b", text)}
        for node in ast.walk(ast.parse(text)):
            match node:
                # Without a code of its own the status is it.
                case ast.Call(ast.Name("RestError"), [ast.Constant(int(status)), _]):
                    told.add(status)
    page = (ROOT / "docs/rest.md").read_text("utf-8")
    table = re.findall(r"^\| ([0-9, ]+) \|", page, re.MULTILINE)
    listed = [int(code) for row in table for code in row.split(", ")]
    assert sorted(listed) == sorted(told)
