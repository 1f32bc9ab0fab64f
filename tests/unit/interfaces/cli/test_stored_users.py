from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.security.authority import CLIENT, FOLDER
from infrastructure.security.password_hashing import is_password_of_any
from infrastructure.storage.repositories.user_repository import StoredUserRepository
from interfaces.main.__main__ import main


@pytest.fixture
def data(tmp_path: Path) -> str:
    open_storage(f"lmdb://{tmp_path}").commit.close()
    return str(tmp_path)


def matches(data: str, password: str) -> bool:
    storage = open_storage(f"lmdb://{data}", read_only=True)
    with closing(storage.commit):
        credentials = StoredUserRepository(storage.state).load()["ann"]
    return len(credentials) == 2 and all(
        is_password_of_any(password, [one]) for one in credentials.values()
    )


def test_users_of_a_stopped_broker_are_changed(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--data", data)
    assert main(["user", "add", "ann", "--password", "first", *place]) == 0
    assert matches(data, "first")
    assert main(["user", "add", "ann", "--password", "again", *place]) == 1
    assert main(["user", "password", "ann", "--password", "second", *place]) == 0
    assert matches(data, "second")
    capsys.readouterr()
    assert main(["user", "list", *place]) == 0
    assert "ann" in capsys.readouterr().out
    assert main(["user", "delete", "ann", "--yes", *place]) == 0
    assert main(["user", "password", "ann", "--password", "third", *place]) == 1


def test_a_file_with_the_previous_password_is_named(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(data) / FOLDER / CLIENT
    file.parent.mkdir()
    file.write_text('sasl.jaas.config=X required username="ann" password="first";')
    for name in ("ann", "bob"):
        assert main(["user", "add", name, "--password", "first", "--data", data]) == 0
        capsys.readouterr()
        assert main(["user", "password", name, "--generate", "--data", data]) == 0
        assert (f"{file} has the previous password" in capsys.readouterr().err) is (name == "ann")


def test_a_folder_in_use_is_refused(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    storage = open_storage(f"lmdb://{data}")
    with closing(storage.commit):
        assert main(["user", "add", "ann", "--password", "first", "--data", data]) == 1
    assert "in use" in capsys.readouterr().err
