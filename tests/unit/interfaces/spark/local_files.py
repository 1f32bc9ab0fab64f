"""What HadoopFiles does, on a local disk and without a JVM."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


class LocalFiles:
    def __init__(self, _spark: object = None) -> None:
        pass

    def names(self, folder: str) -> list[str]:
        return sorted(each.name for each in Path(folder).glob("*"))

    def place(self, folder: str) -> str:
        return f"file:{Path(folder).absolute()}"

    def place_of_uri(self, uri: str) -> str:
        return f"file:{unquote(urlsplit(uri).path)}"

    def read(self, file: str) -> str | None:
        return Path(file).read_text() if Path(file).exists() else None

    def write(self, file: str, text: str) -> None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text)

    def write_first(self, file: str, text: str) -> None:
        if not Path(file).exists():
            self.write(file, text)
