"""Small files on any file system that Spark writes to: through Hadoop, as Spark does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What is being written; it may stay where somebody was killed.
NEW = ".new"
_OF_PATTERNS = re.compile(r"[\\*?\[\]{}]")


def literally(path: str) -> str:
    """For Spark's readers, which take paths for patterns."""
    return _OF_PATTERNS.sub(r"\\\g<0>", path)


class HadoopFiles:
    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._uri = jvm.java.net.URI
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

    def place(self, folder: str) -> str:
        """With its scheme, in the same words however it was named."""
        path = self._path(folder)
        return str(path.getFileSystem(self._settings).makeQualified(path).toString())

    def place_of_uri(self, uri: str) -> str:
        return str(self._path(self._uri(uri)).toString())

    def read(self, file: str) -> str | None:
        """None where there is none, also where it goes at this moment."""
        path = self._path(file)
        files = path.getFileSystem(self._settings)
        try:
            stream = files.open(path)
        except Exception:
            if files.exists(path):
                raise
            return None
        try:
            return str(self._text(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, file: str, text: str) -> None:
        """The old one goes when the new one is whole: no rename of Hadoop's replaces a file."""
        path, begun = self._path(file), self._path(file + NEW)
        with _told(file):
            files = self._filled(begun, text)
            files.delete(path, False)
            moved = files.rename(begun, path)
        if not moved:
            raise JobFailed(f"{file} cannot be written")

    def write_first(self, file: str, text: str) -> None:
        """Only where there is none; it is whole when it is there. A local disk has no rename that
        heeds what is there, so that is looked at just before."""
        path, begun = self._path(file), self._path(f"{file}.{uuid4().hex}{NEW}")
        with _told(file):
            files = self._filled(begun, text)
            if files.exists(path) or not files.rename(begun, path):
                files.delete(begun, False)

    def _filled(self, path: Any, text: str) -> Any:
        files = path.getFileSystem(self._settings)
        stream = files.create(path, True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()
        return files


@contextmanager
def _told(file: str) -> Iterator[None]:
    try:
        yield
    except Exception as failure:
        cause = getattr(failure, "java_exception", None)
        raise JobFailed(f"{file} cannot be written: {cause or failure}") from None
