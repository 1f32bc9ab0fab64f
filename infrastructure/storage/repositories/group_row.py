"""RowKind: how one kind of change to a group is kept in the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.groups.group import GroupChange


class RowKind:
    """How the changes of one class are kept."""

    __slots__ = ("change", "decode", "encode", "letter", "name")

    def __init__(
        self,
        letter: bytes,
        change: type[GroupChange],
        name: Callable[[Any], str],
        encode: Callable[[Any], Any],
        decode: Callable[[str, str, Any], GroupChange],
    ) -> None:
        """`letter` orders the rows of a group: the changes of the first are applied first.

        `name` tells rows of a kind apart; `encode` gives what JSON can hold, or None to delete the
        row; `decode` is given the group's id, the row's name and what was encoded.
        """
        self.letter = letter
        self.change = change
        self.name = name
        self.encode = encode
        self.decode = decode
