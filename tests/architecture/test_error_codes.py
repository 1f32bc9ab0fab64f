"""Domain errors and Kafka's codes: each error has one code, each code in use one error."""

from __future__ import annotations

import ast
import re
from types import ModuleType

import pytest
from kio.schema.errors import ErrorCode

from domain import cluster_errors, errors
from domain.errors import BrokerError
from domain.security import errors as security_errors
from interfaces.kafka.requests.error_codes import CODES, NAMES, UNKNOWN_SERVER_ERROR
from tests.architecture.repository import ROOT

#: Files with the one tree, and a drawing of their part of it on top.
FILES = {
    "domain/errors.py": errors,
    "domain/cluster_errors.py": cluster_errors,
    "domain/security/errors.py": security_errors,
}


def tree(error: type[BrokerError]) -> set[type[BrokerError]]:
    below = set(error.__subclasses__())
    return below.union(*(tree(one) for one in below))


def domain_errors() -> set[str]:
    return set().union(*(errors_of(module) for module in FILES.values()))


def errors_of(module: ModuleType) -> set[str]:
    return {error.__name__ for error in tree(BrokerError) if error.__module__ == module.__name__}


def test_every_error_of_the_domain_and_its_use_cases_is_in_the_one_tree() -> None:
    elsewhere = [
        f"{source.relative_to(ROOT)}: {node.name}"
        for folder in ("domain", "application")
        for source in (ROOT / folder).rglob("*.py")
        if str(source.relative_to(ROOT)) not in FILES
        for node in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in domain_errors() for base in node.bases)
    ]
    assert elsewhere == []


@pytest.mark.parametrize("module", FILES.values(), ids=FILES)
def test_the_tree_is_drawn_in_full(module: ModuleType) -> None:
    drawing = (module.__doc__ or "").partition("\n\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"\b[A-Z]\w+", drawing)) == errors_of(module) | {"BrokerError"}


def test_the_map_to_kafkas_codes_is_total_in_both_directions() -> None:
    assert {error.__name__ for error in CODES} - {"BrokerError"} == domain_errors()
    assert len(set(CODES.values())) == len(CODES), "two errors share a code"
    assert 0 not in CODES.values()


def test_every_code_has_its_name_and_it_is_kafkas() -> None:
    assert NAMES.keys() >= {*CODES.values(), UNKNOWN_SERVER_ERROR}
    assert {code: ErrorCode(code).name.upper() for code in NAMES} == NAMES
