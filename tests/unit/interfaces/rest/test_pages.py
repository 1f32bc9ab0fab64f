from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from interfaces.rest.pages import Page, index_key

NAMES = ["a", "b c", "d&e", "f", "ü"]


def all_pages(names: list[str], size: int) -> list[list[str]]:
    pages = []
    token: str | None = None
    while True:
        page, url = Page(size, token).of(names, str, "http://here/things")
        pages.append(list(page))
        if url is None:
            return pages
        query = parse_qs(urlsplit(url).query)
        assert query["page_size"] == [str(size)]
        [token] = query["page_token"]


def test_all_pages_together_are_the_list() -> None:
    assert all_pages(NAMES, 2) == [["a", "b c"], ["d&e", "f"], ["ü"]]
    assert all_pages(NAMES, 5) == [NAMES]
    assert all_pages([], 5) == [[]]


def test_without_page_size_the_rest_is_one_page() -> None:
    assert Page(None, None).of(NAMES, str, "u") == (NAMES, None)
    assert Page(None, "b c").of(NAMES, str, "u") == (["d&e", "f", "ü"], None)


def test_a_deleted_element_does_not_shift_pages() -> None:
    left = [name for name in NAMES if name != "b c"]
    assert Page(2, "b c").of(left, str, "u")[0] == ["d&e", "f"]


def test_numbers_are_paged_in_numeric_order() -> None:
    page, _ = Page(2, index_key(9)).of(range(12), index_key, "u")
    assert list(page) == [10, 11]
