"""Small files, and the logs of Spark's streams, on any file system that Spark writes to.

Through Hadoop and through the classes with which Spark writes its own checkpoints and logs: these
know how each file system makes a new file visible at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The log of a stream in the folder that it writes.
LOG = "_spark_metadata"
_LOG_VERSION = 1
_OF_PATTERNS = re.compile(r"[\\*?\[\]{}]")


def literally(path: str) -> str:
    """For Spark's readers, which take paths for patterns."""
    return _OF_PATTERNS.sub(r"\\\g<0>", path)


class HadoopFiles:
    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._session: Any = spark._jsparkSession
        self._settings = spark._jsc.hadoopConfiguration()

    def names(self, folder: str) -> list[str]:
        """Without hidden ones; empty where there is no folder."""
        path, files = self._opened(folder)
        if not files.exists(path):
            return []
        names = [str(each.getPath().getName()) for each in files.listStatus(path)]
        return sorted(name for name in names if not name.startswith("."))

    def place(self, folder: str) -> str:
        """With its scheme, and the same however the folder was named."""
        path, files = self._opened(folder)
        return str(files.makeQualified(path).toString())

    def read(self, file: str) -> str | None:
        """None where there is none."""
        path, files = self._opened(file)
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, file: str, text: str, only_new: bool = False) -> None:
        """At once; FileExistsError with `only_new` where there is one."""
        streaming = self._jvm.org.apache.spark.sql.execution.streaming
        path, files = self._opened(file)
        try:
            files.mkdirs(path.getParent())
            manager = streaming.checkpointing.CheckpointFileManager.create(path, self._settings)
            stream = manager.createAtomic(path, not only_new)
            stream.write(bytearray(text, "utf-8"))
            stream.close()
        except Exception as failure:
            if only_new and files.exists(path):
                raise FileExistsError(file) from None
            raise _failed(f"{file} cannot be written", failure) from None

    def logged_files(self, folder: str) -> list[str]:
        """The files of a folder that count, as its log names them: by where they were written."""
        if not self.names(f"{folder}/{LOG}"):
            return []
        sinks = self._jvm.org.apache.spark.sql.execution.streaming.sinks
        none = self._jvm.scala.Option.empty()
        log = sinks.FileStreamSinkLog(_LOG_VERSION, self._session, f"{folder}/{LOG}", none)
        try:
            # Decoded from a URI, in the words of `place`.
            uris = [self._jvm.java.net.URI(str(each.path())) for each in log.allFiles()]
        except Exception as failure:
            raise _failed(f"{folder}/{LOG} cannot be read", failure) from None
        return [str(self._jvm.org.apache.hadoop.fs.Path(uri).toString()) for uri in uris]

    def _opened(self, name: str) -> tuple[Any, Any]:
        path = self._jvm.org.apache.hadoop.fs.Path(name)
        return path, path.getFileSystem(self._settings)


def _failed(what: str, failure: Exception) -> JobFailed:
    return JobFailed(f"{what}: {getattr(failure, 'java_exception', None) or failure}")
