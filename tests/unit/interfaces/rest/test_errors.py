from __future__ import annotations

import ast
import re
from pathlib import Path

from domain import errors
from interfaces.rest.errors import BAD_REQUEST, REFUSALS, message_of, refusal_of


def test_an_error_code_begins_with_its_status() -> None:
    for status, code in (BAD_REQUEST, *REFUSALS.values()):
        assert 400 <= status < 600
        assert code // 100 == status


def test_an_unlisted_error_is_a_bad_request() -> None:
    assert refusal_of(errors.InvalidPartitions()) == BAD_REQUEST
    assert refusal_of(errors.NonEmptyGroup()).status == 409


def test_an_error_without_a_message_has_its_name_in_words() -> None:
    assert message_of(errors.UnknownTopicOrPartition()) == "Unknown topic or partition"
    assert message_of(errors.GroupIdNotFound("group g")) == "group g"


ROOT = Path(__file__).parents[4]
#: Not of routes: not HTTP, unknown path, unknown method, no TLS.
_OF_SERVERS = {400, 404, 405, 426}


def test_the_page_lists_exactly_the_error_codes() -> None:
    codes = set(_OF_SERVERS)
    for path in (ROOT / "interfaces/rest").rglob("*.py"):
        text = path.read_text("utf-8")
        codes |= {int(code) for code in re.findall(r"\b[45][0-9]{4}\b", text)}
        for node in ast.walk(ast.parse(text)):
            match node:
                # Without a code of its own the status is it.
                case ast.Call(ast.Name("RestError"), [ast.Constant(int(status)), _]):
                    codes.add(status)
    page = (ROOT / "docs/rest.md").read_text("utf-8")
    table = re.findall(r"^\| ([0-9, ]+) \|", page, re.MULTILINE)
    listed = [int(code) for row in table for code in row.split(", ")]
    assert sorted(listed) == sorted(codes)
