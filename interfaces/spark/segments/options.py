"""The options of `ottla-segments`, with the names of Spark's Kafka connector where it has them.

Options of clients and of streams are ignored, so that a query of `ottla` needs only another format
and a path.
"""

from __future__ import annotations

from collections.abc import Mapping

from infrastructure.opening import read_url
from infrastructure.storage.errors import UnknownStorage
from interfaces.spark.query.assignment import WAYS, assignment_in
from interfaces.spark.query.bounds import end_of_batch, start_of_batch
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.options import CLIENT_OPTIONS, READ_OPTIONS, STREAM_OPTIONS, Options

_KNOWN = (*READ_OPTIONS, *STREAM_OPTIONS, *CLIENT_OPTIONS, "path", "topic", "includeBatches")


class SegmentsOptions(Options):
    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given, _KNOWN)
        self.url = self._url()
        #: None: all topics.
        self.assignment = assignment_in(self, (*WAYS, "topic"))
        self.starting, self.ending = start_of_batch(self), end_of_batch(self)
        self.fail_on_data_loss = self.flag("failOnDataLoss", True)
        self.include_headers = self.flag("includeHeaders", False)
        self.include_batches = self.flag("includeBatches", False)

    def _url(self) -> str:
        path = self.text("path")
        if path is None:
            raise WrongOption("option path is missing: .load(FOLDER)")
        try:
            return read_url(path.removeprefix("file://").removeprefix("file:"))
        except UnknownStorage:
            raise WrongOption(f"option path: {path!r} is not a local folder") from None

    @property
    def folder(self) -> str:
        return self.url.partition("://")[2]
