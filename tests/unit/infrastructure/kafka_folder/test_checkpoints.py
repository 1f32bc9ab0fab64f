from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from infrastructure.kafka_folder.checkpoints import leader_epochs, offsets, properties, topic_id
from infrastructure.kafka_folder.refused import FolderRefused


def test_the_files_of_kafka(original: Path) -> None:
    assert offsets(original / "log-start-offset-checkpoint") == {("trimmed", 0): 10}
    assert offsets(original / "recovery-point-offset-checkpoint")["segments", 0] == 40
    assert leader_epochs(original / "trimmed-0/leader-epoch-checkpoint") == [(0, 10)]
    assert properties(original / "meta.properties")["node.id"] == "1"
    assert len(topic_id(original / "segments-0/partition.metadata")) == 16


@pytest.mark.parametrize("name", ["none", "empty"])
def test_a_checkpoint_may_have_nothing(tmp_path: Path, name: str) -> None:
    """Kafka creates it with its first entry, or before."""
    (tmp_path / "empty").touch()
    assert offsets(tmp_path / name) == {}
    assert leader_epochs(tmp_path / name) == []


@pytest.mark.parametrize(
    "name, read",
    [
        ("log-start-offset-checkpoint", offsets),
        ("recovery-point-offset-checkpoint", offsets),
        ("trimmed-0/leader-epoch-checkpoint", leader_epochs),
        ("meta.properties", properties),
        ("segments-0/partition.metadata", topic_id),
    ],
)
def test_a_file_that_is_cut_off_anywhere_is_refused(
    original: Path, tmp_path: Path, name: str, read: Callable[[Path], object]
) -> None:
    whole, path = (original / name).read_bytes(), tmp_path / "cut"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if not length and read in (offsets, leader_epochs):
            continue  # as before its first entry
        if read is properties and whole[:length].endswith(b"\n"):
            continue  # the folder notices what is missing
        with pytest.raises(FolderRefused):
            read(path)


@pytest.mark.parametrize(
    "text",
    [
        "1\n0\n",
        "0\nx\n",
        "0\n-1\n",
        "0\n2\nt 0 1\n",
        "0\n1\nt 0\n",
        "0\n1\nt 0 -1\n",
        "0\n1\nt 0 99999999999999999999\n",
        "0\n1\nt 0 \u0663\n",
        "\udcff\n",
    ],
)
def test_another_version_or_line_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FolderRefused):
        offsets(path)


@pytest.mark.parametrize("text", ["0\n2\n1 5\n1 6\n", "0\n2\n1 5\n2 4\n", "0\n1\n1\n"])
def test_leader_epochs_ascend(tmp_path: Path, text: str) -> None:
    path = tmp_path / "checkpoint"
    path.write_text(text)
    with pytest.raises(FolderRefused):
        leader_epochs(path)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderRefused, match="cannot be read: Is a directory"):
        offsets(tmp_path)


def test_another_version_of_topic_ids_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "partition.metadata"
    path.write_text("version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ")
    with pytest.raises(FolderRefused, match="version 1"):
        topic_id(path)
