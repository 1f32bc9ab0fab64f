"""An archive's folder: what belongs to it, and which of its files count.

Spark numbers batches in the checkpoint, and the folder's log passes over a number that it has: with
another checkpoint, or with an older state of its own, records would be taken as read and never
written. So folder and checkpoint carry the same name, in a note that Spark's readers pass over, and
their newest batches are held against each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from interfaces.spark.jobs.hadoop_files import NEW, HadoopFiles
from interfaces.spark.jobs.sink_log import LOG, SinkLog, newest_in
from interfaces.spark.query.failures import JobFailed, WrongOption

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKPOINT, NOTE = "_checkpoint", "_ottla_archive.json"
_OFFSETS, _COMMITS = "offsets", "commits"


class ArchiveFolder:
    """`partitions` is how many each archived topic had."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._files = HadoopFiles(spark)
        self.folder = folder.rstrip("/") or folder
        self._log = SinkLog(self._files, self.folder)
        note = self._note_of(self.folder)
        self._name: str | None = note.get("name")
        self.partitions: dict[str, int] = note.get("partitions", {})
        #: The type of the column `json`, or that there is none; None: not noted yet.
        self._json: str | None = note.get("json")

    @property
    def was_begun(self) -> bool:
        return self._name is not None

    def belongs_to(self, checkpoint: str) -> None:
        """From now on; it is refused where it is another's."""
        its = self._note_of(checkpoint).get("name")
        if self._name is not None and its == self._name:
            self._require_same_age(checkpoint)
            self._require_same_place()
            return
        if self._files.names(f"{self.folder}/{LOG}"):
            whose = "another archive's" if self._files.names(checkpoint) else "new"
            raise WrongOption(
                f"{self.folder} is an archive already, and the checkpoint {checkpoint} is {whose}: "
                "records would be lost; name the checkpoint that it had, or another folder"
            )
        if self._files.names(f"{checkpoint}/{_OFFSETS}"):
            raise WrongOption(
                f"the checkpoint {checkpoint} is not of {self.folder}: what it has noted is "
                "elsewhere; name the folder that it had, or another checkpoint"
            )
        self._begin(checkpoint, its)

    def _begin(self, checkpoint: str, its: str | None) -> None:
        """Of two that begin at once, both have the name of the first, or one is refused."""
        name = its or self._named(checkpoint, {"name": uuid4().hex})
        if self._name is None:
            self._name = self._named(self.folder, self._note(name))
        else:  # of a run that ended before it archived anything
            self._name = name
            self._keep()
        if self._name != name:
            raise WrongOption(
                f"{self.folder} is being made an archive by another run just now, and not with the "
                f"checkpoint {checkpoint}; name its checkpoint, or another folder"
            )

    def _named(self, folder: str, note: Mapping[str, Any]) -> str:
        self._files.write_first(f"{folder}/{NOTE}", json.dumps(note, sort_keys=True))
        there = self._note_of(folder).get("name")
        if there is None:
            self._write(folder, note)
        return str(there or note["name"])

    def _require_same_age(self, checkpoint: str) -> None:
        """A batch is noted in `offsets`, then in the folder's log, then in `commits`; looked at the
        other way round, since another run may be at work."""
        done = newest_in(self._files, f"{checkpoint}/{_COMMITS}")
        written = self._log.newest()
        noted = newest_in(self._files, f"{checkpoint}/{_OFFSETS}")
        if written > noted:
            known = f"ends with batch {noted}" if noted >= 0 else "knows no batch"
            raise WrongOption(
                f"the checkpoint {checkpoint} is older than {self.folder}: it {known}, and batch "
                f"{written} is there: records would be lost; bring back its newest state, or name "
                "another folder with another checkpoint"
            )
        if done > written:
            has = f"ends with batch {written}" if written >= 0 else "has no batch"
            raise WrongOption(
                f"{self.folder} is older than its checkpoint {checkpoint}: it {has}, and batch "
                f"{done} was written: records would be missing; bring back its newest state, or "
                "name another folder with another checkpoint"
            )

    def _require_same_place(self) -> None:
        """Spark's log has whole paths, and Spark would read neither the old files nor the new."""
        was, place = self._log.place(), self._files.place(self.folder)
        if was is not None and was != place:
            raise WrongOption(
                f"{place} was written as {was}, and Spark would find neither its old files nor new "
                "ones here: `restore` reads it, and what is new goes to a new folder"
            )

    def require_all_named(self, is_named: Callable[[str], bool], checkpoint: str) -> None:
        """A checkpoint forgets a topic that is left out, and would begin it anew afterwards."""
        if newest_in(self._files, f"{checkpoint}/{_OFFSETS}") < 0:
            self.partitions = {}  # it knows of none
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
            self._keep()

    def note_json(self, kind: str) -> None:
        """Files of two kinds in one folder are none that Spark could read."""
        if self._json is None or self._log.newest() < 0:
            if kind != self._json:
                self._json = kind
                self._keep()
        elif kind != self._json:
            had = f"{self._json} as" if self._json else "no"
            raise WrongOption(
                f"{self.folder} has {had} --json-schema: give the same, or name another folder"
            )

    def files(self) -> list[str]:
        """Those that count, by the log: relative to the folder."""
        return self._log.files()

    def _note_of(self, folder: str) -> dict[str, Any]:
        """Where it was killed between the old note and the new: the new one, if it is whole."""
        text = self._files.read(f"{folder}/{NOTE}")
        new = None if text else self._files.read(f"{folder}/{NOTE}{NEW}")
        try:
            note = json.loads(text or new or "{}")
        except ValueError:
            note = None if text else {}
        if not isinstance(note, dict):
            raise JobFailed(f"{folder}/{NOTE} is no note of an archive")
        return note

    def _keep(self) -> None:
        self._write(self.folder, self._note(self._name))

    def _note(self, name: str | None) -> dict[str, Any]:
        facts = {"name": name, "partitions": self.partitions, "json": self._json}
        return {key: value for key, value in facts.items() if value is not None}

    def _write(self, folder: str, note: Mapping[str, Any]) -> None:
        self._files.write(f"{folder}/{NOTE}", json.dumps(note, sort_keys=True))
