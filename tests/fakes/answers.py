"""What a service answers, now or later."""

from __future__ import annotations

from typing import TypeVar

from application.pending import Pending

T = TypeVar("T")


def answers_of(asked: T | Pending[T]) -> list[T]:
    """Empty until there is an answer."""
    if not isinstance(asked, Pending):
        return [asked]
    answers: list[T] = []
    asked.then(answers.append)
    return answers
