from __future__ import annotations

import ast
import re
from pathlib import Path

from domain import errors
from interfaces.rest.errors import BAD_REQUEST, REFUSALS, message_of, phrase, refusal_of


def test_a_code_begins_with_its_status() -> None:
    for status, code in (BAD_REQUEST, *REFUSALS.values()):
        assert 400 <= status < 600
        assert code // 100 == status


def test_an_error_that_is_not_listed_is_a_bad_request() -> None:
    assert refusal_of(errors.InvalidPartitions()) == BAD_REQUEST
    assert refusal_of(errors.NonEmptyGroup()).status == 409


def test_an_error_without_a_message_has_its_name_in_words() -> None:
    assert message_of(errors.UnknownTopicOrPartition()) == "Unknown topic or partition"
    assert message_of(errors.GroupIdNotFound("group g")) == "group g"


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
