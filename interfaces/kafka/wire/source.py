"""Source: Python code under construction, with indentation, fresh names and bound globals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct as Packer
from typing import Any


class Source:
    def __init__(self, **names: Any) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = names
        self.depth = 0
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def bind(self, name: str, value: Any) -> str:
        assert self.names.setdefault(name, value) is value, f"two things are called {name}"
        return name

    def unpacker(self, codes: str) -> str:
        name = "unpack_" + plain(codes)
        if name not in self.names:
            self.names[name] = Packer(">" + codes).unpack_from
        return name

    def packer(self, codes: str) -> str:
        name = "pack_" + plain(codes)
        if name not in self.names:
            self.names[name] = Packer(">" + codes).pack
        return name

    def compile(self, name: str, title: str) -> Callable[..., Any]:
        exec(compile("\n".join(self.lines), f"<{title}>", "exec"), self.names)
        made: Callable[..., Any] = self.names[name]
        return made


def plain(codes: str) -> str:
    return codes.replace("16s", "u").replace("?", "o")
