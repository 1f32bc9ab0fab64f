from __future__ import annotations

from domain import errors
from domain.errors import BrokerError
from interfaces.rest.errors import REFUSALS, message_of, phrase


def tree(error: type[BrokerError]) -> set[type[BrokerError]]:
    below = {one for one in error.__subclasses__() if one.__module__ == errors.__name__}
    return below.union(*(tree(one) for one in below))


def test_every_error_of_the_domain_has_a_status_and_a_code() -> None:
    assert REFUSALS.keys() == {BrokerError, *tree(BrokerError)}


def test_a_code_begins_with_its_status() -> None:
    for status, code in REFUSALS.values():
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
