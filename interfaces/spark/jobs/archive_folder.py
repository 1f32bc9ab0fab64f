"""An archive's folder: what belongs to it, and which of its files count.

Spark numbers batches in the checkpoint, and the folder's log passes over a number that it has: with
another checkpoint records would be taken as read and never written. So folder and checkpoint carry
the same name, in a note that Spark's readers pass over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from interfaces.spark.failures import JobFailed, WrongOption

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKPOINT, LOG, _NOTE = "_checkpoint", "_spark_metadata", "_ottla_archive.json"
_NEW = ".new"


class ArchiveFolder:
    """`partitions` is how many each archived topic had."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._files = _Files(spark)
        self.folder = folder.rstrip("/") or folder
        note = self._note_of(self.folder)
        self._name: str | None = note.get("name")
        self.partitions: dict[str, int] = note.get("partitions", {})

    def belongs_to(self, checkpoint: str) -> None:
        """From now on; it is refused where it is another's."""
        its = self._note_of(checkpoint).get("name")
        if self._name is not None and its == self._name:
            return
        if self._files.names(f"{self.folder}/{LOG}"):
            whose = "another archive's" if self._files.names(checkpoint) else "new"
            raise WrongOption(
                f"{self.folder} is an archive already, and the checkpoint {checkpoint} is {whose}: "
                "records would be lost; name the checkpoint that it had, or another folder"
            )
        if self._files.names(f"{checkpoint}/offsets"):
            raise WrongOption(
                f"the checkpoint {checkpoint} is not of {self.folder}: what it has noted is "
                "elsewhere; name the folder that it had, or another checkpoint"
            )
        self._name = uuid4().hex
        self._write(checkpoint, {"name": self._name})
        self._write(self.folder, {"name": self._name, "partitions": self.partitions})

    def require_all_named(self, is_named: Callable[[str], bool]) -> None:
        """A checkpoint forgets a topic that is left out, and would begin it anew afterwards."""
        for topic in sorted(self.partitions):
            if not is_named(topic):
                raise WrongOption(
                    f"{self.folder} is an archive of {topic} too, which is not named now: topics "
                    "may be added to it and none left out (another folder has other topics)"
                )

    def note(self, partitions: Mapping[str, int]) -> None:
        """Of topics that are archived; those that are gone from the broker stay in it."""
        wanted = {
            topic: max(partitions.get(topic, 0), self.partitions.get(topic, 0))
            for topic in partitions.keys() | self.partitions.keys()
        }
        if wanted != self.partitions:
            self.partitions = wanted
            self._write(self.folder, {"name": self._name, "partitions": wanted})

    def files(self) -> list[str]:
        """Those that count, by the log: relative to where the folder is now, since the log has the
        place in which they were written."""
        log = f"{self.folder}/{LOG}"
        batches = {number: name for name in self._files.names(log) if (number := _number(name))}
        whole = max((number for number in batches if number[1]), default=(-1, True))
        found: dict[str, None] = {}
        for number in sorted(batches):
            if number == whole or (number[0] > whole[0] and not number[1]):
                text = self._files.read(f"{log}/{batches[number]}") or ""
                found |= dict.fromkeys(map(_relative, text.splitlines()[1:]))
        return list(found)

    def _note_of(self, folder: str) -> dict[str, Any]:
        """Where it was killed between the old note and the new: the new one, if it is whole."""
        text = self._files.read(f"{folder}/{_NOTE}")
        new = None if text else self._files.read(f"{folder}/{_NOTE}{_NEW}")
        try:
            note = json.loads(text or new or "{}")
        except ValueError:
            note = None if text else {}
        if not isinstance(note, dict):
            raise JobFailed(f"{folder}/{_NOTE} is no note of an archive")
        return note

    def _write(self, folder: str, note: Mapping[str, Any]) -> None:
        self._files.write(f"{folder}/{_NOTE}", json.dumps(note, sort_keys=True))


def _number(name: str) -> tuple[int, bool] | None:
    """Of a batch in the log, and whether it has all that were before."""
    number, dot, kind = name.partition(".")
    known = number.isdecimal() and kind in ("", "compact")
    return (int(number), bool(dot)) if known else None


def _relative(line: str) -> str:
    """topic=NAME/date=DAY/FILE"""
    try:
        parts = str(json.loads(line)["path"]).split("/")[-3:]
    except (ValueError, TypeError, KeyError):
        parts = []
    if len(parts) < 3 or not parts[0].startswith("topic=") or not parts[1].startswith("date="):
        raise JobFailed(f"the log of the archive names no file of an archive: {line[:200]}")
    return "/".join(parts)


class _Files:
    """Of any file system that Spark writes to: through Hadoop, as Spark does."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._text = jvm.org.apache.commons.io.IOUtils.toString
        self._settings = spark._jsc.hadoopConfiguration()

    def names(self, folder: str) -> list[str]:
        """None of them where there is no folder. What begins with a dot is a file system's own."""
        path = self._path(folder)
        files = path.getFileSystem(self._settings)
        if not files.exists(path):
            return []
        names = [str(each.getPath().getName()) for each in files.listStatus(path)]
        return sorted(name for name in names if not name.startswith("."))

    def read(self, file: str) -> str | None:
        path = self._path(file)
        files = path.getFileSystem(self._settings)
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return str(self._text(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, file: str, text: str) -> None:
        """The old one goes when the new one is whole: no rename of Hadoop's replaces a file."""
        path, begun = self._path(file), self._path(file + _NEW)
        files = path.getFileSystem(self._settings)
        try:
            stream = files.create(begun, True)
            try:
                stream.write(bytearray(text, "utf-8"))
            finally:
                stream.close()
            files.delete(path, False)
            moved = files.rename(begun, path)
        except Exception as failure:
            cause = getattr(failure, "java_exception", None)
            raise JobFailed(f"{file} cannot be written: {cause or failure}") from None
        if not moved:
            raise JobFailed(f"{file} cannot be written")
