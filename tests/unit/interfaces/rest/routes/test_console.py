from __future__ import annotations

import re
from pathlib import Path

import pytest

from interfaces.rest.routes.console import FOLDER, PAGES, static_files
from tests.fakes.admin import FakeAdmin

IMPORTED = re.compile(r"""(?:from |import\()'(\.[^']+)'""")
NAMED = re.compile(r'(?:src|href)="([^"#]{2,})"')
#: Ways of turning text into markup or code.
DANGEROUS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\("
)


@pytest.mark.parametrize("path, file", [*PAGES.items()])
def test_a_page_is_served(admin: FakeAdmin, path: str, file: str) -> None:
    page = admin.get(path)
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.body == (FOLDER / file).read_bytes()


def test_files_have_a_policy_that_allows_nothing_inline(admin: FakeAdmin) -> None:
    for path in (
        "/",
        "/docs",
        "/login",
        "/console/main.js",
        "/console/console.css",
        "/console/views/topics.js",
    ):
        headers = admin.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self'; ")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_an_unchanged_file_is_304(admin: FakeAdmin) -> None:
    etag = admin.get("/console/main.js").headers["etag"]
    again = admin.get("/console/main.js", headers={"if-none-match": etag})
    assert (again.status, again.body) == (304, b"")
    assert admin.get("/console/main.js", headers={"if-none-match": '"other"'}).status == 200


@pytest.mark.parametrize(
    "path", ["/console/nothing.js", "/console/../admin.py", "/console/%2e%2e/admin.py", "/console/"]
)
def test_nothing_else_is_served(admin: FakeAdmin, path: str) -> None:
    response = admin.get(path)
    assert response.status == 404
    assert response.json["error_code"] == 404


def test_all_files_that_a_file_names_exist() -> None:
    files = static_files()
    for name, file in files.items():
        text = file.content.decode()
        if name.endswith(".js"):
            for imported in IMPORTED.findall(text):
                found = (FOLDER / name).parent.joinpath(imported).resolve()
                assert found.relative_to(FOLDER.resolve()).as_posix() in files, (name, imported)
        if name.endswith(".html"):
            for named in NAMED.findall(text):
                assert named.removeprefix("console/") in files, named


def test_no_file_turns_text_into_markup_or_code() -> None:
    scripts = [Path(name) for name in static_files() if name.endswith(".js")]
    assert len(scripts) > 10
    found = [str(name) for name in scripts if DANGEROUS.search((FOLDER / name).read_text("utf-8"))]
    assert found == []
