"""The log that Spark keeps in a folder which a stream writes: what counts of the folder's files.

It has a file for each batch, with the names of the batch's files. Some of them, summaries, have all
that were before too, and those before are removed one day, also while somebody reads them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    from interfaces.spark.jobs.hadoop_files import HadoopFiles

LOG = "_spark_metadata"
_SUMMARY = ".compact"
#: At a log that changes while it is read.
_LOOKS = 5


class SinkLog:
    def __init__(self, files: HadoopFiles, folder: str) -> None:
        self._files = files
        self._log = f"{folder}/{LOG}"

    def newest(self) -> int:
        return newest_in(self._files, self._log)

    def files(self) -> list[str]:
        """Relative to where the folder is now, since the log has the place in which they were
        written."""
        lost: int | None = None
        for _ in range(_LOOKS):
            first, names = self._listed()
            texts = {number: self._read(name) for number, name in names.items()}
            wanted = range(first, max(names, default=-1) + 1)
            lost = next((number for number in wanted if texts.get(number) is None), None)
            if lost is None:
                lines = [line for text in texts.values() for line in _lines(text)]
                return list(dict.fromkeys(_place_and_file(line)[1] for line in lines))
        raise JobFailed(
            f"{self._log} has no batch {lost}, and has later ones: which files were in it is lost"
        )

    def place(self) -> str | None:
        """In which the newest were written."""
        _, names = self._listed()
        for number in reversed(names):
            for line in _lines(self._read(names[number])):
                return self._files.place_of_uri(_place_and_file(line)[0])
        return None

    def _listed(self) -> tuple[int, dict[int, str]]:
        """The number with which they begin, and the names of those from the newest summary on."""
        entries = _numbered(self._files, self._log)
        summaries = (number for number, name in entries.items() if name.endswith(_SUMMARY))
        first = max(summaries, default=0)
        return first, {number: entries[number] for number in sorted(entries) if number >= first}

    def _read(self, name: str) -> str | None:
        return self._files.read(f"{self._log}/{name}")


def newest_in(files: HadoopFiles, folder: str) -> int:
    """Batch in a log of Spark's, its checkpoints' too; -1 where there is none."""
    return max(_numbered(files, folder), default=-1)


def _numbered(files: HadoopFiles, log: str) -> dict[int, str]:
    """A number's summary comes after what it is a summary of, and wins."""
    found = {}
    for name in files.names(log):
        number = name.removesuffix(_SUMMARY)
        if number.isdecimal():
            found[int(number)] = name
    return found


def _lines(text: str | None) -> list[str]:
    return text.splitlines()[1:] if text else []


def _place_and_file(line: str) -> tuple[str, str]:
    """PLACE, topic=NAME/date=DAY/FILE"""
    try:
        place, *parts = str(json.loads(line)["path"]).rsplit("/", 3)
    except (ValueError, TypeError, KeyError):
        place, parts = "", []
    if len(parts) < 3 or not parts[0].startswith("topic=") or not parts[1].startswith("date="):
        raise JobFailed(f"the log of the archive names no file of an archive: {line[:200]}")
    return place, "/".join(parts)
