"""HadoopFiles on a local disk, without a JVM."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlsplit


class LocalFiles:
    def __init__(self, _spark: object = None) -> None:
        pass

    def names(self, folder: str) -> list[str]:
        return sorted(each.name for each in Path(folder).glob("*"))

    def place(self, folder: str) -> str:
        return f"file:{Path(folder).absolute()}"

    def read(self, file: str) -> str | None:
        return Path(file).read_text() if Path(file).exists() else None

    def write(self, file: str, text: str, only_new: bool = False) -> None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        with Path(file).open("x" if only_new else "w") as note:
            note.write(text)

    def logged_files(self, folder: str) -> list[str]:
        log = Path(folder, "_spark_metadata")
        lines = [
            json.loads(line)
            for name in sorted(self.names(str(log)), key=int)
            for line in (log / name).read_text().splitlines()[1:]
        ]
        return [f"file:{unquote(urlsplit(line['path']).path)}" for line in lines]
