from __future__ import annotations

import pytest

from domain.security.jaas import options_of, plain_users

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("options", "users"),
    [
        ("", {}),
        ('user_ann="a b;c=d" user_bob=plain', {"ann": "a b;c=d", "bob": "plain"}),
        ('username="broker" password="x" user_ann="1"', {"ann": "1"}),
        (r'user_ann="a\"b\\c"', {"ann": r"a\"b\\c".replace("\\\\", "\\").replace('\\"', '"')}),
        ("user_ann = '1'", {"ann": "'1'"}),
        ('\n  user_ann="1"\n  user_a.b-c="2"\n', {"ann": "1", "a.b-c": "2"}),
    ],
)
def test_the_users_of_kafkas_login_module(options: str, users: dict[str, str]) -> None:
    assert plain_users(f"{MODULE} required {options};") == users
    assert plain_users(f" {MODULE} REQUIRED {options} ; ") == users


def test_without_a_line_there_are_no_users() -> None:
    assert plain_users(None) == {}


@pytest.mark.parametrize(
    "line",
    [
        "",
        MODULE,
        f'{MODULE} required user_ann="secret"',
        f'{MODULE} required user_ann="secret;',
        f"{MODULE} required secret;",
        f'{MODULE} sometimes user_ann="secret";',
        f'{MODULE} required user_ann="secret"user_bob="2";',
    ],
)
def test_a_malformed_line_is_refused_without_its_passwords(line: str) -> None:
    with pytest.raises(ValueError, match="one login module") as refusal:
        options_of(line)
    assert "secret" not in str(refusal.value)
