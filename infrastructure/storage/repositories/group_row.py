"""RowKind: how one kind of change to a group is persisted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.groups.group import GroupChange


class RowKind:
    """Encodes and decodes the changes of one class."""

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
        row; `decode` gets the group id, the row's name and the encoded value.
        """
        self.letter = letter
        self.change = change
        self.name = name
        self.encode = encode
        self.decode = decode
