"""An archive's folder: its checkpoint, its topics, and its files.

Spark numbers batches in the checkpoint, and skips a batch whose number is in the folder's log: with
another checkpoint, or an older one of the two, records would count as archived and never be
written. So folder and checkpoint have the same name in a note, which Spark's readers ignore, and
their newest batches are compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from interfaces.spark.jobs.hadoop_files import LOG, HadoopFiles
from interfaces.spark.query.failures import JobFailed, WrongOption

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKPOINT, NOTE = "_checkpoint", "_ottla_archive.json"
_OFFSETS, _COMMITS = "offsets", "commits"
_SUMMARY = ".compact"


class ArchiveFolder:
    """`partitions` is how many each archived topic had."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._files = HadoopFiles(spark)
        self.folder = folder.rstrip("/") or folder
        note = self._note_of(self.folder)
        self._name: str | None = note.get("name")
        self.partitions: dict[str, int] = note.get("partitions", {})
        #: The type of the column `json`, empty without one; None: not noted yet.
        self._json: str | None = note.get("json")

    @property
    def has_begun(self) -> bool:
        return self._name is not None

    def belongs_to(self, checkpoint: str) -> None:
        """From now on; refused where either belongs to another."""
        name = self._note_of(checkpoint).get("name")
        if self._name is not None and name == self._name:
            self._require_same_age(checkpoint)
            self._require_same_place()
            return
        if self._files.names(f"{self.folder}/{LOG}"):
            whose = "another archive's" if self._files.names(checkpoint) else "new"
            raise WrongOption(
                f"{self.folder} is an archive already, and the checkpoint {checkpoint} is {whose}: "
                "records would be lost; name its own checkpoint, or another folder"
            )
        if self._newest(f"{checkpoint}/{_OFFSETS}") >= 0:
            raise WrongOption(
                f"the checkpoint {checkpoint} is not of {self.folder}: its records are in another "
                "folder; name that folder, or another checkpoint"
            )
        self._begin(checkpoint, name)

    def _begin(self, checkpoint: str, name: str | None) -> None:
        """The checkpoint first: where a run is killed between the two, the next one goes on."""
        has_note, self._name = self.has_begun, name or uuid4().hex
        try:
            if name is None:
                self._write(checkpoint, {"name": self._name}, only_new=True)
            self._write(self.folder, self._note(), only_new=not has_note)
        except FileExistsError:
            raise WrongOption(f"another run is beginning an archive in {self.folder}") from None

    def _require_same_age(self, checkpoint: str) -> None:
        """Spark notes a batch in `offsets`, then in the folder's log, then in `commits`; read in
        the opposite order, since another run may be writing."""
        committed = self._newest(f"{checkpoint}/{_COMMITS}")
        written = self._newest(f"{self.folder}/{LOG}")
        planned = self._newest(f"{checkpoint}/{_OFFSETS}")
        names = f"the checkpoint {checkpoint}", self.folder
        for (older, newer), its_batch, batch in (
            (names, planned, written),
            (names[::-1], written, committed),
        ):
            if its_batch < batch:
                ends = f"ends with batch {its_batch}" if its_batch >= 0 else "has no batch"
                raise WrongOption(
                    f"{older} is older than {newer}: it {ends}, and {newer} has batch {batch}: "
                    "records would be lost; restore its newest state, or name another folder "
                    "with another checkpoint"
                )

    def _require_same_place(self) -> None:
        """Spark's log has absolute paths: after a move Spark finds neither old files nor new."""
        files, place = self._files.logged_files(self.folder), self._files.place(self.folder)
        was = files[-1].rsplit("/", 3)[0] if files else place
        if was != place:
            raise WrongOption(
                f"{place} was written as {was}, and Spark would find neither its old files nor new "
                "ones here: `restore` reads it; write new records to a new folder"
            )

    def require_all_named(self, is_named: Callable[[str], bool], checkpoint: str) -> None:
        """A checkpoint forgets a topic that is left out, and would begin it again later."""
        if self._newest(f"{checkpoint}/{_OFFSETS}") < 0:
            self.partitions = {}  # nothing was archived
        for topic in sorted(self.partitions):
            if not is_named(topic):
                raise WrongOption(
                    f"{self.folder} is also an archive of {topic}: later runs name all its topics, "
                    "and may add others (another set of topics needs another folder)"
                )

    def note(self, partitions: Mapping[str, int]) -> None:
        """Topics that are gone from the broker stay in the note."""
        noted = {
            topic: max(partitions.get(topic, 0), self.partitions.get(topic, 0))
            for topic in partitions.keys() | self.partitions.keys()
        }
        if noted != self.partitions:
            self.partitions = noted
            self._write(self.folder, self._note())

    def note_json(self, kind: str) -> None:
        """Spark cannot read a folder whose files have two types."""
        if kind == self._json:
            return
        if self._json is not None and self._newest(f"{self.folder}/{LOG}") >= 0:
            had = f"{self._json} as" if self._json else "no"
            raise WrongOption(
                f"{self.folder} has {had} --json-schema: give the same, or name another folder"
            )
        self._json = kind
        self._write(self.folder, self._note())

    def files(self) -> list[str]:
        """Those in the log, relative to the folder, which may have been moved."""
        files = [
            "/".join(each.rsplit("/", 3)[1:]) for each in self._files.logged_files(self.folder)
        ]
        for file in files:
            if not (file.startswith("topic=") and "/date=" in file):
                raise JobFailed(f"the log in {self.folder} is not of an archive: it names {file}")
        return files

    def _newest(self, log: str) -> int:
        """Batch in a log of Spark's; -1 without one."""
        numbers = [name.removesuffix(_SUMMARY) for name in self._files.names(log)]
        return max((int(each) for each in numbers if each.isdecimal()), default=-1)

    def _note_of(self, folder: str) -> dict[str, Any]:
        try:
            note = json.loads(self._files.read(f"{folder}/{NOTE}") or "{}")
        except ValueError:
            note = None
        if not isinstance(note, dict):
            raise JobFailed(f"{folder}/{NOTE} is no note of an archive")
        return note

    def _note(self) -> dict[str, Any]:
        values = {"name": self._name, "partitions": self.partitions, "json": self._json}
        return {key: value for key, value in values.items() if value is not None}

    def _write(self, folder: str, note: Mapping[str, Any], only_new: bool = False) -> None:
        self._files.write(f"{folder}/{NOTE}", json.dumps(note, sort_keys=True), only_new)
